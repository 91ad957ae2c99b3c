"""Tokens as mechd makes them."""
import subprocess
from harness import program


def make(name, scopes):
    """(token, line for the file)"""
    out = subprocess.run([program('mechd'), '--make-token', name, '--scopes', scopes], check=True,
                         capture_output=True, text=True).stdout
    lines = dict(line.split(None, 1) for line in out.splitlines())
    return lines['token'], lines['line']


def bearer(token):
    return {'Authorization': 'Bearer ' + token}
