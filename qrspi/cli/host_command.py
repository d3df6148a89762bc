"""What `install` and `uninstall` share: the place, the question, the answer."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from qrspi.cli.session import Session
from qrspi.core.errors import Refusal
from qrspi.core.installing.host_parts import HOSTS, TRUST
from qrspi.core.installing.install_plan import Plan
from qrspi.core.model import Problem
from qrspi.handlers import hosts as host_settings
from qrspi.handlers.hosts import SettingsPlace
from qrspi.render import hosts
from qrspi.world.files import own_files
from qrspi.world.hosts import install_record

Body = Callable[..., None]


def options(body: Body) -> Body:
    for option in (
        click.option("--dry-run", is_flag=True, help="Show the differences, and change nothing."),
        click.option("--yes", is_flag=True, help="Do not ask."),
        click.option("--user", is_flag=True, help="For all your projects, in your home."),
        click.argument("host", type=click.Choice(HOSTS)),
    ):
        body = option(body)
    return body


def place(session: Session, user: bool) -> SettingsPlace:
    if user:
        return SettingsPlace("user", str(Path.home()), own_files.settings_folder(os.environ))
    project = session.use_new_root().project
    return SettingsPlace("project", project, install_record.of_project(project))


class HostCommand:
    def __init__(self, session: Session, verb: str, host: Any, user: bool) -> None:
        self.session, self.verb, self.host = session, verb, host
        self.place = place(session, user)
        self.removing = verb == "uninstall"

    def carry_out(self, plan: Plan, *, yes: bool, dry_run: bool) -> None:
        changed = any(change.is_change for change in plan.changes)
        if changed and not dry_run and not yes:
            self._ask(plan)
        if not dry_run:
            host_settings.carry_out(plan, self.place, removing=self.removing)
        to_trust = "" if self.removing else TRUST[self.host]
        document = hosts.document(
            self.verb, self.host, self.place.level, plan, done=not dry_run, then=to_trust
        )
        shown = hosts.differences(plan) if dry_run else []
        self.session.answer(document, [*shown, *self._lines(plan, changed, dry_run, to_trust)])

    def _ask(self, plan: Plan) -> None:
        words = f"qrspi {self.verb} {self.host}{' --user' if self.place.level == 'user' else ''}"
        if not self.session.interactive:
            text = f"{self.verb} changes files of {self.host}"
            text += ": without a terminal to ask at, that needs --yes"
            raise Refusal(Problem("confirmation-needed", text, hint=f"{words} --dry-run"))
        self.session.tell(hosts.differences(plan))
        if not self.session.confirm("Write this? (y/n)"):
            raise Refusal(Problem("declined", "you said no, nothing was changed"))

    def _lines(self, plan: Plan, changed: bool, dry_run: bool, to_trust: str) -> list[str]:
        where = "your home" if self.place.level == "user" else self.place.root
        if not changed:
            state = "not installed" if self.removing else "installed already"
            return [f"{self.host}: {state} in {where}; nothing was changed."]
        verb = f"{'Would ' if dry_run else ''}{self.verb}"
        head = f"{verb.capitalize()}{'' if dry_run else 'ed'}: {self.host}, in {where}."
        below = ["", f"Nothing was trusted for you. {to_trust}"] if to_trust else []
        return [head, *hosts.summary(plan, done=not dry_run), *below]
