"""Bringing up to date what depends on records, after people changed some."""

from __future__ import annotations

from dataclasses import replace

from holdfast.app.briefs.briefing import prepare_briefs
from holdfast.app.core.context import Context
from holdfast.app.ingest.stages import update_stages
from holdfast.capture.home_paths import HomePaths


def refresh_derived(context: Context) -> None:
    """Run the stages that are behind, and write the prepared briefs again, so that no session
    gets a record that was just removed."""
    update_stages(context.store, context.now)
    if HomePaths(context.settings.home).briefs.is_dir():
        prepare_briefs(replace(context.settings, principal=None), context.now)
