"""A small importer of FMUs for co-simulation, 2.0 and 3.0, from the texts of the standards: unpacks
the archive, reads the description, loads the binary of this machine and steps one component.

    with Fmu(data) as f:
        f.initialize({'force': 2})
        f.step(0.01)
        f.values(['x'])
"""
import ctypes
import io
import os
import pathlib
import platform
import shutil
import tempfile
import xml.etree.ElementTree as ElementTree
import zipfile

POINTER, SIZE, DOUBLE = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_double
# of the variable arguments the first, which is a text: the FMU's format is "%s"
LOG_2 = ctypes.CFUNCTYPE(None, POINTER, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p,
                         ctypes.c_char_p, ctypes.c_char_p)
LOG_3 = ctypes.CFUNCTYPE(None, POINTER, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)
ALLOCATE = ctypes.CFUNCTYPE(POINTER, SIZE, SIZE)
RELEASE = ctypes.CFUNCTYPE(None, POINTER)


class Callbacks(ctypes.Structure):
    """Of FMI 2.0, section 2.1.5."""
    _fields_ = [('log', LOG_2), ('allocate', ALLOCATE), ('release', RELEASE),
                ('finished', POINTER), ('environment', POINTER)]


class Refused(Exception):
    """A status that is not OK."""


class Variable:
    def __init__(self, element, size):
        self.name, self.reference = element.get('name'), int(element.get('valueReference'))
        self.causality, self.variability = element.get('causality'), element.get('variability')
        self.size = size


def references(variables):
    return (ctypes.c_uint32 * len(variables))(*[v.reference for v in variables])


class Fmu:
    """One component of the FMU in these bytes, or of another binary for it, with these texts as
    parameters."""
    logging = False

    def __init__(self, data, binary=None, texts=None):
        self.folder = tempfile.mkdtemp(prefix='mechd-fmu-')
        with zipfile.ZipFile(io.BytesIO(data)) as z:
            z.extractall(self.folder)
        root = ElementTree.parse(os.path.join(self.folder, 'modelDescription.xml')).getroot()
        self.version = int(root.get('fmiVersion')[0])
        self.token = root.get('guid' if self.version == 2 else 'instantiationToken').encode()
        self.variables = {v.name: v for v in self._variables(root.find('ModelVariables'))}
        self.step_size = float(root.find('DefaultExperiment').get('stepSize'))  # s, the solver's
        identifier = root.find('CoSimulation').get('modelIdentifier')
        machine = platform.machine()
        tuple_name = 'linux64' if self.version == 2 and machine == 'x86_64' else machine + '-linux'
        own = os.path.join(self.folder, 'binaries', tuple_name, identifier + '.so')
        self._library = ctypes.CDLL(binary or own, mode=os.RTLD_LOCAL)
        self.messages, self.time = [], 0.0
        self._component = self._instantiate()
        self.set_texts(texts or {})

    def _variables(self, element):
        for e in element:
            sizes = [int(d.get('start')) for d in e.findall('Dimension')]
            yield Variable(e, sizes[0] if sizes else 1)

    def _instantiate(self):
        resources = os.path.join(self.folder, 'resources')
        if self.version == 2:
            libc = ctypes.CDLL(None)
            self._log = LOG_2(
                lambda _, name, status, category, form, text: self.messages.append(text))
            self._callbacks = Callbacks(self._log, ALLOCATE(('calloc', libc)),
                                        RELEASE(('free', libc)), None, None)
            instantiate = self._library.fmi2Instantiate
            instantiate.restype = POINTER
            made = instantiate(
                b'one', 1, self.token, pathlib.Path(resources).as_uri().encode(),
                ctypes.byref(self._callbacks), 0, self.logging)
        else:
            self._log = LOG_3(lambda _, status, category, text: self.messages.append(text))
            instantiate = self._library.fmi3InstantiateCoSimulation
            instantiate.restype = POINTER
            made = instantiate(
                b'one', self.token, (resources + '/').encode(), False, self.logging, False, False,
                None, SIZE(0), None, self._log, None)
        if not made:
            raise Refused(self.messages)
        return POINTER(made)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        function = self._library['fmi%dFreeInstance' % self.version]
        function.restype = None
        function(self._component)
        shutil.rmtree(self.folder)

    def call(self, name, *arguments):
        """A function of the version by its name without prefix."""
        status = self._library['fmi%d%s' % (self.version, name)](self._component, *arguments)
        if status != 0:
            raise Refused('%s: %d %s' % (name, status, self.messages))

    def initialize(self, given=None):
        if self.version == 2:
            self.call('SetupExperiment', 0, DOUBLE(0), DOUBLE(0), 0, DOUBLE(0))
            self.call('EnterInitializationMode')
        else:
            self.call('EnterInitializationMode', False, DOUBLE(0), DOUBLE(0), False, DOUBLE(0))
        self.set(given or {})
        self.call('ExitInitializationMode')

    def outputs(self):
        return [v for v in self.variables.values() if v.causality == 'output']

    def get(self, variables):
        """All elements of these variables, one behind the other."""
        n = sum(v.size for v in variables)
        out = (DOUBLE * n)()
        more = () if self.version == 2 else (SIZE(n),)
        self.call('GetReal' if self.version == 2 else 'GetFloat64', references(variables),
                  SIZE(len(variables)), out, *more)
        return list(out)

    def set(self, given):
        """{name: number or list}."""
        if not given:
            return
        variables = [self.variables[name] for name in given]
        numbers = [x for value in given.values()
                   for x in (value if isinstance(value, list) else [value])]
        more = () if self.version == 2 else (SIZE(len(numbers)),)
        self.call('SetReal' if self.version == 2 else 'SetFloat64', references(variables),
                  SIZE(len(variables)), (DOUBLE * len(numbers))(*numbers), *more)

    def set_texts(self, given):
        """{name: text}."""
        if given:
            texts = (ctypes.c_char_p * len(given))(*[t.encode() for t in given.values()])
            more = () if self.version == 2 else (SIZE(len(given)),)
            self.call('SetString', references([self.variables[name] for name in given]),
                      SIZE(len(given)), texts, *more)

    def texts(self, names):
        out = (ctypes.c_char_p * len(names))()
        more = () if self.version == 2 else (SIZE(len(names)),)
        self.call('GetString', references([self.variables[name] for name in names]),
                  SIZE(len(names)), out, *more)
        return [t.decode() for t in out]

    def step(self, size):
        if self.version == 2:
            self.call('DoStep', DOUBLE(self.time), DOUBLE(size), 0)
            self.time, = self.get([self.variables['time']])
            return
        flags, last = [ctypes.c_bool() for _ in range(3)], DOUBLE()
        self.call('DoStep', DOUBLE(self.time), DOUBLE(size), False,
                  *[ctypes.byref(f) for f in flags], ctypes.byref(last))
        self.time = last.value

    def save(self):
        """A state, to be freed by forget."""
        state = POINTER()
        self.call('GetFMU%state' % ('s' if self.version == 2 else 'S'), ctypes.byref(state))
        return state, self.time

    def restore(self, saved):
        self.call('SetFMU%state' % ('s' if self.version == 2 else 'S'), saved[0])
        self.time = saved[1]

    def forget(self, saved):
        self.call('FreeFMU%state' % ('s' if self.version == 2 else 'S'), ctypes.byref(saved[0]))

    def through_bytes(self):
        """The present state as bytes, and from them: the component is in it then."""
        old = self.save()
        name = 'FMUstate' if self.version == 2 else 'FMUState'
        size, again = SIZE(), POINTER()
        self.call('Serialized%sSize' % name, old[0], ctypes.byref(size))
        data = ctypes.create_string_buffer(size.value)
        self.call('Serialize%s' % name, old[0], data, size)
        self.forget(old)
        self.call('%s%s' % ('DeSerialize' if self.version == 2 else 'Deserialize', name), data,
                  size, ctypes.byref(again))
        new = again, old[1]
        self.restore(new)
        self.forget(new)
