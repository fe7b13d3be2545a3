"""Does the server in this container answer? The image has no curl, so Python asks; the exit status is the answer."""

import http.client
import os
import ssl
import sys

_SPEAKS_TLS = (http.client.BAD_REQUEST, http.client.PERMANENT_REDIRECT)


def main() -> int:
    port = int(os.environ.get("HASHRANGE_PORT", "8000"))
    has_tls = bool(os.environ.get("HASHRANGE_TLS_CERT"))
    # Nobody here has a client's certificate; what is told to plain HTTP shows at least that the server's loop turns.
    is_mutual = has_tls and bool(os.environ.get("HASHRANGE_TLS_CLIENT_CA"))
    # Not urllib, which would ask a proxy that the environment names.
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=3)
    if has_tls and not is_mutual:
        context = ssl.create_default_context()
        context.check_hostname = False  # it is this container's own server, whatever its name is outside
        context.verify_mode = ssl.CERT_NONE
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=3, context=context)
    try:
        connection.request("GET", "/_hashrange/health")
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as problem:
        sys.stderr.write(f"no answer on port {port}: {problem}\n")
        return 1
    return 0 if status == http.client.OK or (is_mutual and status in _SPEAKS_TLS) else 1


if __name__ == "__main__":
    sys.exit(main())
