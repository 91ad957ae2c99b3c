"""Certificates of an authority that a test makes, for this machine."""
import os
import subprocess


def openssl(folder, *words):
    subprocess.run(('openssl',) + words, cwd=folder, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.PIPE)


def authority(folder):
    openssl(folder, 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256',
            '-nodes', '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj',
            '/CN=test authority', '-addext', 'basicConstraints=critical,CA:TRUE')


def certificate(folder, name, days='2'):
    """name.pem and name.key of the authority in that folder, for this machine."""
    openssl(folder, 'req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes',
            '-keyout', name + '.key', '-out', name + '.csr', '-subj', '/CN=' + name)
    with open(os.path.join(folder, 'names'), 'w', encoding='utf-8') as f:
        f.write('subjectAltName=DNS:localhost,IP:127.0.0.1\n')
    openssl(folder, 'x509', '-req', '-in', name + '.csr', '-CA', 'ca.pem', '-CAkey', 'ca.key',
            '-CAcreateserial', '-days', days, '-extfile', 'names', '-out', name + '.pem')
