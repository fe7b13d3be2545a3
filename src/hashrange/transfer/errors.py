"""How a transfer ends when it does not end well."""


class TransferError(Exception):
    """Something that a person has to look at; the message says what."""


class BadArguments(TransferError):
    """The command line makes no sense."""


class EndpointError(TransferError):
    """An endpoint refused a request, and would refuse it again."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}" if message else code)
        self.code = code
        self.message = message


class Interrupted(Exception):
    """Somebody asked the transfer to stop."""
