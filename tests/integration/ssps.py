"""Packages of the tests, written from System Structure and Parameterization 1.0.1."""
import io
import zipfile

import fmus

SPACE = 'http://ssp-standard.org/SSP1/SystemStructure'
NAMESPACES = ''.join(' xmlns:%s="%s%s"' % (prefix, SPACE, name) for prefix, name in (
    ('ssd', 'Description'), ('ssc', 'Common'), ('ssv', 'ParameterValues'),
    ('ssm', 'ParameterMapping'), ('ssb', 'SignalDictionary')))


def component(name, source='resources/controller.fmu', inside=''):
    return ('<ssd:Component name="%s" source="%s"><ssd:Connectors>'
            '<ssd:Connector name="u" kind="input"/><ssd:Connector name="y" kind="output"/>'
            '</ssd:Connectors>%s</ssd:Component>' % (name, source, inside))


def connection(start, end, inside=''):
    one, other = start.split('.'), end.split('.')
    return ('<ssd:Connection startElement="%s" startConnector="%s" endElement="%s" '
            'endConnector="%s">%s</ssd:Connection>' % (*one, *other, inside))


def linear(factor, offset=0):
    return '<ssc:LinearTransformation factor="%r" offset="%r"/>' % (factor, offset)


def values(**reals):
    """A binding with these values, in place."""
    inside = ''.join('<ssv:Parameter name="%s"><ssv:Real value="%r"/></ssv:Parameter>' % item
                     for item in reals.items())
    return ('<ssd:ParameterBindings><ssd:ParameterBinding><ssd:ParameterValues>'
            '<ssv:ParameterSet version="1.0" name="values"><ssv:Parameters>%s</ssv:Parameters>'
            '</ssv:ParameterSet></ssd:ParameterValues></ssd:ParameterBinding>'
            '</ssd:ParameterBindings>' % inside)


def structure(components, connections='', name='pair'):
    links = '<ssd:Connections>%s</ssd:Connections>' % connections if connections else ''
    return ('<?xml version="1.0" encoding="UTF-8"?><ssd:SystemStructureDescription version="1.0" '
            'name="%s"%s><ssd:System name="root"><ssd:Elements>%s</ssd:Elements>%s</ssd:System>'
            '</ssd:SystemStructureDescription>' % (name, NAMESPACES, components, links))


def package(ssd, more=(), fmu=None):
    """The bytes of an .ssp; more: pairs of a path and bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, 'w', zipfile.ZIP_DEFLATED) as z:
        if ssd is not None:
            z.writestr('SystemStructure.ssd', ssd)
        z.writestr('resources/controller.fmu', fmus.archive() if fmu is None else fmu)
        for path, content in more:
            z.writestr(path, content)
    return out.getvalue()


# a: y = 0.5 (u + x), x grows by u h; b the same, driven by a; a is given an input
PAIR = structure(component('a', inside=values(gain=0.5, u=1.)) +
                 component('b', inside=values(gain=0.5)),
                 connection('a.y', 'b.u', linear(2, 0.25)))


def upload(daemon, content, query='', headers=None):
    return daemon.call('POST', '/v1/couplings' + query, content,
                       {'Content-Type': 'application/zip', **(headers or {})})
