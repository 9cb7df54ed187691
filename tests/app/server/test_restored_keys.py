"""Keys of a server, and a backup that is put back."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.app.server.keys import KeyRequest, make_key, revoke_key
from holdfast.app.transfer.backup import back_up, restore
from holdfast.settings import load_settings
from tests.support.installed_home import environment

pytestmark = pytest.mark.slow


def test_a_key_revoked_after_the_backup_stays_revoked(tmp_path: Path) -> None:
    settings = load_settings(environment(tmp_path))
    with Holdfast(settings) as memory:
        _, gone = make_key(memory, KeyRequest("gone"))
        _, kept = make_key(memory, KeyRequest("kept"))
        made = back_up(settings)
        revoked = revoke_key(memory, gone.id).revoked
    restore(settings, made.path)
    with Holdfast(settings) as memory:
        keys = {key.id: key for key in memory.store.api_keys.all()}
    assert keys[gone.id].revoked == revoked != "" and not keys[kept.id].revoked
