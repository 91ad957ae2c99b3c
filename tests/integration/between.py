"""A server of HTTP between a client and a daemon, which passes requests on or answers itself."""
import http.client
import http.server
import threading

from harness import SLOW


class Between:
    """A server whose requests are answered by `answer(handler, body)`."""

    def __init__(self):
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def handle_it(self):
                owner.answer(self, self.rfile.read(int(self.headers.get('Content-Length', 0))))
            do_GET = do_POST = do_DELETE = handle_it

            def log_message(self, *_):
                pass
        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.url = 'http://127.0.0.1:%d' % self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    @staticmethod
    def send(handler, status, body=b'', kind='application/json'):
        handler.send_response(status)
        handler.send_header('Content-Type', kind)
        handler.send_header('Content-Length', str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)


class Forwarder(Between):
    """Passes requests on to a daemon."""

    def __init__(self, daemon):
        self.address = daemon.base.split('//')[1]
        super().__init__()

    def answer(self, handler, body):
        connection = http.client.HTTPConnection(self.address, timeout=100 * SLOW)
        kind = {k: v for k, v in handler.headers.items() if k in ('Content-Type', 'Accept')}
        connection.request(handler.command, handler.path, body or None, kind)
        reply = connection.getresponse()
        self.send(handler, reply.status, reply.read(), reply.headers.get('Content-Type', ''))
        connection.close()
