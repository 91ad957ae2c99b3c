"""What the verification book compares with: of each program of this folder, and of each test
against published numbers over HTTP and ZeroMQ. book.py ends where one is missing or left over."""
ADAMS = 'ADAMS, as in the IFToMM library of benchmarks for multibody dynamics'
CLOSED = 'closed forms'
EXUDYN = 'Exudyn 1.11, its reference solutions'
PRECICE = "preCICE's oscillator case, published errors"
SICONOS = 'runs that Siconos publishes, and for the chain a run of Siconos 4.4'
BALANCES = 'balances of energy and momentum'
BITS = 'the same run without what is tried: equal bits'
DIFFERENCES = 'central differences'
LITERAL = 'a literal implementation of the equations'
ORDERS = 'orders of the methods'
UNITS = 'the same model in other units'
LIMITS = 'conditions that follow from the model'


def of(*sources):
    return '; '.join(sources)


PROGRAMS = {
    'adaptive': of('closed form of ẍ = −100 x', BITS),
    'adaptive_implicit': of(CLOSED, ORDERS, BITS),
    'analyses': of(CLOSED, EXUDYN, DIFFERENCES),
    'cables': of('closed forms of the elastica and of Euler–Bernoulli beams',
                 'K. Mattiasson, Int. J. Numer. Meth. Eng. 17 (1981) 145–153', BALANCES, ORDERS),
    'constraints': of(CLOSED, BALANCES, ORDERS),
    'contact_laws': of(CLOSED, ORDERS),
    'contact_masses': of(CLOSED, UNITS),
    'contacts': of(CLOSED, BALANCES, BITS),
    'coupling_energy': of(CLOSED, BALANCES, ORDERS),
    'coupling_schemes': of(ORDERS, 'numbers of evaluations that the methods need', CLOSED),
    'coupling_sims': of(BALANCES, ORDERS, CLOSED),
    'couplings': of(PRECICE, CLOSED),
    'crowd_costs': 'the cheaper of two methods, by counted operations',
    'crowds': of('numbers of iterations', LIMITS, BALANCES),
    'dense': of(CLOSED, ORDERS, BITS),
    'derivatives': of(DIFFERENCES, CLOSED),
    'drops': 'the same drops in commands of other lengths: equal logs of events',
    'energy': 'energy of the double pendulum',
    'euler_moreau': of(CLOSED, BALANCES, ORDERS),
    'euler_moreau_cases': of(LITERAL, 'all cases tried one by one'),
    'event_driven': of(CLOSED, BALANCES, BITS),
    'examples': LIMITS,
    'examples_alone': CLOSED,
    'examples_contacts': of(CLOSED, LIMITS),
    'examples_joints': of(LITERAL + ' in few coordinates', BALANCES, CLOSED),
    'flexible_modal': of(CLOSED, BALANCES, ORDERS),
    'friction': of(CLOSED, BITS),
    'impact_gain': of('energies before and after',
                      'T. Kane, D. Levinson, Dynamics: Theory and Applications, 1985'),
    'impact_scenes': of(BALANCES, ORDERS),
    'impacts': of(LIMITS, BALANCES),
    'jacobians': of('the whole Jacobian', DIFFERENCES, LIMITS),
    'joint_trees': 'the same motion by another solver (KLU)',
    'joints': of(EXUDYN, ADAMS, CLOSED),
    'joints_space': of(ADAMS, CLOSED, ORDERS, BITS),
    'light_and_heavy': of(UNITS, CLOSED),
    'linear_solvers': 'the same motion by another solver',
    'literal': LITERAL,
    'local_slopes': of(CLOSED, UNITS),
    'mechanisms': CLOSED,
    'modified_newton': of("the same motion by Newton's method with new matrices", BITS),
    'moreau_bodies': of(ORDERS, CLOSED, BALANCES),
    'moreau_jean_commands': of(CLOSED, BITS),
    'moreau_jean_energy': of(BALANCES, ORDERS, CLOSED),
    'nonsmooth_lti': of(SICONOS, BITS),
    'orders': of(CLOSED, ORDERS),
    'outputs': CLOSED,
    'passing': 'no touch, no force: the velocity stays',
    'pile': 'the weight of the spheres',
    'pins': of(CLOSED, ORDERS, 'an implicit scheme that keeps the multiplier'),
    'point_derivatives': of(DIFFERENCES, CLOSED),
    'prescribed': of(CLOSED, LITERAL, ORDERS),
    'pressed': of(CLOSED, BITS),
    'redundant': of('the same model without what repeats', CLOSED),
    'rhs_jacobians': DIFFERENCES,
    'rigid_offset': of(CLOSED, BALANCES, ORDERS),
    'rotation_vector': of('the same motion in Euler parameters', ORDERS, CLOSED),
    'rotations': of(ORDERS, BALANCES, BITS),
    'scaled': UNITS,
    'scaled_joints': UNITS,
    'sliding': of(CLOSED, ORDERS, BALANCES),
    'small_motions': of(CLOSED, 'simulations in time'),
    'small_steps': CLOSED,
    'smooth_references': of(EXUDYN, CLOSED),
    'springs': of(EXUDYN, ADAMS, CLOSED, BALANCES),
    'stack': CLOSED,
    'step_jacobians': DIFFERENCES,
    'turned': CLOSED,
    'turning': of(ORDERS, BALANCES),
    'turns': CLOSED,
    'varying': of(CLOSED, ORDERS, BITS),
    'wound': of(CLOSED, DIFFERENCES),
}

# of a test, or of its models where these differ
PUBLISHED = {
    'test_joints_in_space_fly_as_published': ADAMS,
    'test_springs_on_bodies_in_space_fly_as_published': ADAMS,
    **dict.fromkeys((
        'test_damping_leads_to_rest', 'test_a_flexible_body_sags_and_vibrates',
        'test_an_inclined_pendulum_is_released', 'test_a_prescribed_coordinate',
        'test_one_system_as_two_kinds', 'test_free_bodies_in_the_plane_and_falling',
        'test_outputs_are_the_position_and_the_angle'), CLOSED),
    **dict.fromkeys((
        'test_a_physical_pendulum_and_a_mass_in_a_sweep', 'test_four_bar_of_masses',
        'test_slider_crank', 'test_verlet_over_four_steps',
        'test_body_on_a_spring_in_six_directions'), EXUDYN),
    **dict.fromkeys(('test_nonsmooth_systems_over_http', 'test_nonsmooth_systems_over_zeromq'),
                    SICONOS),
    'test_modes': {'hinged bar': CLOSED, None: EXUDYN},
    **dict.fromkeys(('test_smooth_models_over_http', 'test_smooth_models_over_zeromq'), {
        **dict.fromkeys(('mass1d', 'rotor1d', 'mass_point', 'revolute_z', 'revolute_z_vector'),
                        CLOSED), None: EXUDYN})}


def of_model(test, model):
    """What a published number of a model is from."""
    found = PUBLISHED[test]
    return found if isinstance(found, str) else found.get(model, found[None])


def of_test(test):
    """What all published numbers of a test are from."""
    found = PUBLISHED[test]
    return found if isinstance(found, str) else of(*dict.fromkeys(found.values()))


def check(programs, tests):
    """Ends all where a source is missing, or is of what is no more."""
    for what, named, known in (('program', programs, PROGRAMS), ('test', tests, PUBLISHED)):
        for name in sorted(set(named) ^ set(known)):
            raise SystemExit('book_sources.py %s the %s %s' % (
                'has a source for' if name in known else 'does not say the source of', what, name))
