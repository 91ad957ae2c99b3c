"""FMUs of the tests: archives around tests/fmus/controller.c (y = gain (u + x), x grows by u h) and
tests/fmus/tank.c."""
import glob
import io
import os
import platform
import zipfile
import harness

TOKEN = '{controller}'
SAVES = 'canGetAndSetFMUState="true" canSerializeFMUState="true"'
VARIES = 'canHandleVariableCommunicationStepSize="true"'
RETURNS = 'providesIntermediateUpdate="true" canReturnEarlyAfterIntermediateUpdate="true"'
# what the parameter "mood" makes of a step
CRASHES, ABORTS, EXITS, LOOPS, BABBLES, DISCARDS, WRITES, READS, FORKS, CONNECTS, GROWS = range(
    1, 12)
WAITS = 24

VARIABLES = {
    2: '<ScalarVariable name="u" valueReference="1" causality="input"><Real start="0"/>'
       '</ScalarVariable><ScalarVariable name="y" valueReference="2" causality="output"><Real/>'
       '</ScalarVariable><ScalarVariable name="gain" valueReference="3" causality="parameter" '
       'variability="tunable"><Real start="1" max="100"/></ScalarVariable>'
       '<ScalarVariable name="mood" valueReference="5" causality="parameter" '
       'variability="tunable"><Integer start="0"/></ScalarVariable>',
    3: '<Float64 name="u" valueReference="1" causality="input" start="0" unit="N" '
       'intermediateUpdate="true"/>'
       '<Float64 name="y" valueReference="2" causality="output" intermediateUpdate="true"/>'
       '<Float64 name="gain" valueReference="3" causality="parameter" variability="tunable" '
       'start="1" max="100"/>'
       '<Int32 name="mood" valueReference="5" causality="parameter" variability="tunable" '
       'start="0"/>'
       '<String name="label" valueReference="6" causality="parameter" variability="tunable">'
       '<Start value="a"/></String>'
       '<Binary name="blob" valueReference="7" causality="parameter" variability="tunable">'
       '<Start value="6f"/></Binary>'}


def description(version=3, abilities=SAVES + ' ' + VARIES, variables=None):
    kind = 'instantiationToken' if version == 3 else 'guid'
    units = '<UnitDefinitions><Unit name="N"/></UnitDefinitions>' if version == 3 else ''
    return ('<fmiModelDescription fmiVersion="%d.0" modelName="a controller" %s="%s">'
            '<CoSimulation modelIdentifier="controller" %s/>%s'
            '<DefaultExperiment startTime="0" stepSize="0.1"/>'
            '<ModelVariables>%s</ModelVariables></fmiModelDescription>'
            % (version, kind, TOKEN, abilities, units,
               VARIABLES[version] if variables is None else variables))


def folder(version):
    if platform.machine() == 'aarch64':
        return 'aarch64-linux'
    return 'x86_64-linux' if version == 3 else 'linux64'


def packed(version, xml, identifier, more=()):
    out = io.BytesIO()
    with zipfile.ZipFile(out, 'w', zipfile.ZIP_DEFLATED) as z:
        z.writestr('modelDescription.xml', xml)
        with open(os.path.join(harness.BUILD, 'tests', identifier + '.so'), 'rb') as f:
            z.writestr('binaries/%s/%s.so' % (folder(version), identifier), f.read())
        for path, content in more:
            z.writestr(path, content)
    return out.getvalue()


def archive(version=3, abilities=SAVES + ' ' + VARIES, variables=None, more=()):
    """The bytes of an .fmu; more: pairs of a path and bytes."""
    return packed(version, description(version, abilities, variables), 'controller', more)


def tank(abilities='mightReturnEarlyFromDoStep="true" ' + SAVES + ' ' + VARIES):
    """One with event mode (tests/fmus/tank.h): it is emptied at 1, and ticks each 0.25 s."""
    return packed(3, '<fmiModelDescription fmiVersion="3.0" modelName="a tank" '
                  'instantiationToken="{tank}"><CoSimulation modelIdentifier="tank" '
                  'hasEventMode="true" %s/><DefaultExperiment stepSize="8"/><ModelVariables>'
                  '<Float64 name="level" valueReference="0" causality="output"/>'
                  '<Float64 name="inflow" valueReference="1" causality="input" start="1"/>'
                  '<Float64 name="emptied" valueReference="3" causality="output"/>'
                  '</ModelVariables></fmiModelDescription>' % abilities, 'tank')


# sanitizers reserve terabytes of addresses
ON = ['--fmus', 'on', *(['--fmu-memory', str(1 << 30)] if harness.SANITIZED else [])]


class Uploaded(harness.Served):
    """Tests that share one daemon with one FMU of theirs, `fid`."""
    OPTIONS = ON

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.fid = upload(cls.daemon, archive())['id']


def upload(daemon, content, headers=None):
    return daemon.call('POST', '/v1/fmus', content,
                       {'Content-Type': 'application/vnd.fmi', **(headers or {})})


def hosted(daemon, content=None, **start):
    """The path of a new instance of a new FMU."""
    fmu = upload(daemon, archive() if content is None else content)
    made = daemon.call('POST', '/v1/instances', {'fmu': fmu['id'], 'start': start})
    if made.status != 201:
        raise AssertionError(str(made))
    return '/v1/instances/' + made['id']


def processes(daemon):
    """Those that host its FMUs: children of any of its threads."""
    found = []
    for path in glob.glob('/proc/%d/task/*/children' % daemon.pid()):
        with open(path, encoding='ascii') as f:
            found += [int(pid) for pid in f.read().split()]
    return found


def ticks(process):
    """Time of a processor that it has had, 10 ms each."""
    with open('/proc/%d/stat' % process, encoding='utf-8') as f:
        fields = f.read().rsplit(')', 1)[1].split()
    return int(fields[11]) + int(fields[12])
