"""Rules, patterns, proposals, and proposals that were refused."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from holdfast.model.knowledge import Pattern, Proposal, Refusal, Rule
from holdfast.model.query import Passage
from holdfast.model.trust import Trust
from holdfast.model.uris import uri
from holdfast.store.protocol.curation import Erasure
from holdfast.store.protocol.rules import ReadRuleFile, Statement
from holdfast.store.sql.rows import rules as rows
from holdfast.store.sql.runner import StatementRunner
from holdfast.store.sql.statements import placeholders, upsert
from holdfast.store.sql.tables.curation import CurationWriter

_REFUSED_PROPOSAL = "seq, target, text, why, time, who, evidence"


class RuleReader(StatementRunner):
    """Reads rules."""

    def rule_files(self, bank: str) -> list[ReadRuleFile]:
        found = self._all(
            "SELECT file, root, stamp, hash FROM rule_file WHERE bank = ? ORDER BY file", bank
        )
        return [ReadRuleFile(*row) for row in found]

    def rules(self, bank: str) -> list[Rule]:
        found = self._all(
            f"SELECT {rows.RULE} FROM rule WHERE bank = ? ORDER BY path, line, id", bank
        )
        return [rows.rule_of(row) for row in found]

    def patterns(self, bank: str) -> list[Pattern]:
        found = self._all(
            f"SELECT {rows.PATTERN} FROM pattern WHERE bank = ? "
            "ORDER BY confidence DESC, occurrences DESC, id",
            bank,
        )
        return [rows.pattern_of(row) for row in found]

    def proposals(self, bank: str) -> list[Proposal]:
        found = self._all(
            f"SELECT {rows.PROPOSAL} FROM proposal WHERE bank = ? ORDER BY made, id", bank
        )
        return [rows.proposal_of(row) for row in found]

    def refusals(self, bank: str) -> list[Refusal]:
        found = self._all(
            f"SELECT {_REFUSED_PROPOSAL} FROM refused_proposal WHERE bank = ? ORDER BY seq", bank
        )
        return [Refusal(*row)._replace(evidence=rows.as_tuple(row[-1])) for row in found]


class RuleWriter(RuleReader, CurationWriter):
    """Writes them."""

    def put_rules(
        self, bank: str, files: Sequence[ReadRuleFile], rules: Iterable[tuple[Rule, Passage]]
    ) -> None:
        for table in ("rule_file", "rule"):
            self._run(f"DELETE FROM {table} WHERE bank = ?", bank)
        self._run("DELETE FROM passage WHERE bank = ? AND kind = 'rule'", bank)
        self._run_many(
            "INSERT INTO rule_file VALUES (?, ?, ?, ?, ?)", [(bank, *file) for file in files]
        )
        for rule, passage in rules:
            self._run(
                upsert("rule", rows.RULE, "bank, id"),
                *rows.row_of(rule),
            )
            self.put_passages([passage])
        self.mark_changed(bank, "")

    def put_patterns(self, bank: str, patterns: Iterable[Pattern]) -> None:
        self._run("DELETE FROM pattern WHERE bank = ?", bank)
        self._run_many(
            f"INSERT INTO pattern ({rows.PATTERN}) VALUES ({placeholders(rows.PATTERN)})",
            [rows.row_of(pattern) for pattern in patterns],
        )

    def put_proposal(self, proposal: Proposal) -> None:
        self._run(
            upsert("proposal", rows.PROPOSAL, "bank, id"),
            *rows.row_of(proposal),
        )

    def drop_proposal(self, bank: str, id: str) -> None:
        self._run("DELETE FROM proposal WHERE bank = ? AND id = ?", bank, id)

    def put_refusal(self, bank: str, refusal: Refusal) -> None:
        *row, evidence = refusal
        self._run(
            upsert("refused_proposal", f"bank, {_REFUSED_PROPOSAL}", "bank, seq"),
            *(bank, *row, rows.as_list(evidence)),
        )

    def put_statements(self, bank: str, session: str, statements: Iterable[Statement]) -> None:
        self._run("DELETE FROM statement WHERE bank = ? AND session = ?", bank, session)
        columns = ", ".join(Statement._fields)
        self._run_many(
            upsert("statement", columns, "bank, uri, place"),
            [(*s[:-1], rows.as_list(s.files)) for s in statements],
        )

    def statements(self, bank: str) -> list[Statement]:
        found = self._all(
            f"SELECT {', '.join(Statement._fields)} FROM statement WHERE bank = ? "
            "ORDER BY time, uri, place",
            bank,
        )
        return [
            s._replace(
                trust=Trust(s.trust),
                decides=bool(s.decides),
                quotable=bool(s.quotable),
                files=rows.as_tuple(row[-1]),
            )
            for row in found
            for s in (Statement(*row),)
        ]

    def _drop_rules(self) -> None:
        """Remove what was derived from rule files and statements; it is made again."""
        for table in ("rule_file", "rule", "pattern", "proposal", "statement"):
            self._run(f"DELETE FROM {table}")

    def _erase_patterns(self, what: Erasure) -> None:
        """Remove patterns and proposals, which are made again, and refusals whose evidence is
        erased."""
        for table in ("pattern", "proposal", "statement"):
            self._run(f"DELETE FROM {table} WHERE bank = ?", what.bank)
        self._run("DELETE FROM stage_progress WHERE bank = ? AND stage = 'patterns'", what.bank)
        turns = list(what.turns)
        for session in what.sessions:
            found = self._all(
                "SELECT id FROM turn WHERE bank = ? AND session = ?", what.bank, session
            )
            turns += [id for (id,) in found]
        named = (("turn", turns), ("commit", what.commits), ("memory", what.memories))
        gone = {uri(kind, id) for kind, ids in named for id in ids}
        for refusal in self.refusals(what.bank):
            if gone.intersection(refusal.evidence):
                self._run(
                    "DELETE FROM refused_proposal WHERE bank = ? AND seq = ?",
                    what.bank,
                    refusal.seq,
                )
