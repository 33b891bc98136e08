"""The soak of ledgers in its short mode; ten minutes each with ``--full``."""

import ledger_soak


def test_releases_never_exceed_debits_in_a_file(tmp_path, full):
    counted = ledger_soak.soak(str(tmp_path / "book.db"), str(tmp_path), 600 if full else 6, seed=1)
    print(counted)
    assert counted["debits"] > 20
    assert counted["kills"] > 0


def test_releases_never_exceed_debits_in_a_database(tmp_path, server, full):
    counted = ledger_soak.soak(server.address("soak"), str(tmp_path), 600 if full else 6, seed=2, server=server)
    print(counted)
    assert counted["debits"] > 20
    assert counted["restarts"] > 0
