"""Tables' keys for commands of the terminal, which may wait for a key service: verify, migrate and others."""

import os

from hashrange.config import load
from hashrange.core.schema import KeyState
from hashrange.kms.table_key import SealedKey
from hashrange.remote_keys.client import KmsClient, KmsFailed
from hashrange.remote_keys.opening import client_of


class PatientKeys:
    """Asks for each key once, when it is needed."""

    def __init__(self, client: KmsClient) -> None:
        self._client = client
        self._answers: dict[SealedKey, bytes | KeyState] = {}

    def find(self, sealed: SealedKey) -> bytes | KeyState:
        """The key, or why it cannot be used."""
        answer = self._answers.get(sealed)
        if answer is None:
            try:
                answer = self._client.opened_key(sealed.key_arn, sealed.ciphertext, sealed.context)
            except KmsFailed as failure:
                answer = failure.state
            self._answers[sealed] = answer
        return answer

    def holds(self, sealed: SealedKey) -> bool:
        """Whether the key is at hand."""
        return isinstance(self._answers.get(sealed), bytes)

    def tick(self) -> None:
        """Do nothing: commands end soon."""


def patient_keys() -> PatientKeys | None:
    """The key service that the environment names (HASHRANGE_KMS_ENDPOINT), as the server's would be."""
    names = ("HASHRANGE_KMS_ENDPOINT", "HASHRANGE_KMS_REGION", "HASHRANGE_REGION")
    named = {name: os.environ[name] for name in names if name in os.environ}
    if names[0] not in named:
        return None
    # The root key is the command's own affair.
    client = client_of(load({"root_key": "env:NONE"}, named))
    return None if client is None else PatientKeys(client)
