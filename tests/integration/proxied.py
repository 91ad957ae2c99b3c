"""FMUs that connect to a server, of the tests' daemons."""
import unittest
import harness
import importing

TCP = ('--lane', 'tcp://127.0.0.1:*')
# importing an FMU here needs what a sanitizer brings first
PLAIN = unittest.skipIf(harness.SANITIZED, 'a sanitizer must be there before the FMU is loaded')


class Fmu(importing.Fmu):
    """With messages."""
    logging = True

    def __init__(self, data, texts=None):
        super().__init__(data, None, texts)


def get(daemon, path, version=3, kind='proxy', **more):
    reply = daemon.call('GET', '%s/fmu?version=%d&kind=%s' % (path, version, kind), **more)
    assert reply.status == 200, reply
    return reply.raw


def instances(daemon):
    return [i['id'] for i in daemon.call('GET', '/v1/instances')['items']]
