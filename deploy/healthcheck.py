"""Does the server in this container answer? The image has no curl, so Python asks; the exit status is the answer."""

import http.client
import os
import sys


def main() -> int:
    port = int(os.environ.get("HASHRANGE_PORT", "8000"))
    # Not urllib, which would ask a proxy that the environment names.
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=3)
    try:
        connection.request("GET", "/_hashrange/health")
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as problem:
        sys.stderr.write(f"no answer on port {port}: {problem}\n")
        return 1
    return 0 if status == http.client.OK else 1


if __name__ == "__main__":
    sys.exit(main())
