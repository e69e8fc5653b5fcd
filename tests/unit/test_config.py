import subprocess
import sys
from pathlib import Path

import pytest

from ragpg.config import Settings
from ragpg.errors import ConfigError


def test_an_empty_environment_gives_the_defaults():
    settings = Settings.from_env({})
    assert settings == Settings()
    assert settings.database_url is None
    assert settings.data_dir == Path(".ragpg")
    assert settings.embedder == "local"
    assert settings.chat_model is None
    assert settings.openai_base_url is None


def test_the_environment_wins_over_the_defaults():
    settings = Settings.from_env(
        {
            "RAGPG_DATABASE_URL": "postgresql://ana@db/app",
            "RAGPG_DATA_DIR": "/var/lib/ragpg",
            "RAGPG_EMBEDDER": "hash:32",
            "RAGPG_CHAT_MODEL": "llama3.2",
            "RAGPG_REQUEST_TIMEOUT": "2.5",
            "RAGPG_EMBED_CONCURRENCY": "8",
        }
    )
    assert settings == Settings(
        database_url="postgresql://ana@db/app",
        data_dir=Path("/var/lib/ragpg"),
        embedder="hash:32",
        chat_model="llama3.2",
        request_timeout=2.5,
        embed_concurrency=8,
    )


def test_an_argument_wins_over_the_environment_and_none_means_not_given():
    environ = {"RAGPG_EMBEDDER": "hash", "RAGPG_DATABASE_URL": "postgresql://env/db"}
    settings = Settings.from_env(environ, embedder="local", database_url=None)
    assert settings.embedder == "local"
    assert settings.database_url == "postgresql://env/db"


def test_an_argument_makes_its_malformed_variable_irrelevant():
    environ = {
        "RAGPG_DATABASE_URL": "mysql://db",
        "OPENAI_BASE_URL": "nonsense",
        "RAGPG_REQUEST_TIMEOUT": "soon",
        "RAGPG_EMBED_CONCURRENCY": "many",
    }
    settings = Settings.from_env(
        environ,
        database_url="host=db",
        openai_base_url="http://x/v1",
        request_timeout=1.0,
        embed_concurrency=1,
    )
    assert settings.database_url == "host=db"


def test_os_environ_is_read_at_the_call(monkeypatch):
    monkeypatch.setenv("RAGPG_EMBEDDER", "hash:8")
    assert Settings.from_env().embedder == "hash:8"
    monkeypatch.setenv("RAGPG_EMBEDDER", "hash:16")
    assert Settings.from_env().embedder == "hash:16"


def test_a_key_turns_on_the_remote_models():
    settings = Settings.from_env({"OPENAI_API_KEY": "sk-x"})
    assert settings.embedder == "openai:text-embedding-3-small"
    assert settings.chat_model == "gpt-4o-mini"


def test_chat_model_none_keeps_answers_extractive_with_a_key():
    assert Settings.from_env({"OPENAI_API_KEY": "sk-x", "RAGPG_CHAT_MODEL": "none"}).chat_model is None


def test_a_base_url_alone_names_no_model():
    settings = Settings.from_env({"OPENAI_BASE_URL": "http://localhost:11434/v1"})
    assert settings.chat_model is None
    assert settings.embedder == "local"


def test_ragpgs_own_base_url_wins_over_openais():
    environ = {"OPENAI_BASE_URL": "http://one/v1", "RAGPG_OPENAI_BASE_URL": "http://two/v1"}
    assert Settings.from_env(environ).openai_base_url == "http://two/v1"


def test_blank_variables_count_as_unset():
    blank = dict.fromkeys(
        ["RAGPG_DATABASE_URL", "RAGPG_DATA_DIR", "RAGPG_EMBEDDER", "RAGPG_CHAT_MODEL", "OPENAI_API_KEY"], "  "
    )
    assert Settings.from_env(blank) == Settings()


@pytest.mark.parametrize(
    "url", ["postgres://db", "postgresql:///app", "host=localhost dbname=app", "service = prod"]
)
def test_accepted_database_urls(url):
    assert Settings.from_env({"RAGPG_DATABASE_URL": url}).database_url == url


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RAGPG_DATABASE_URL", "mysql://ana:secret@db/app"),
        ("RAGPG_DATABASE_URL", "postgresql+psycopg://ana:secret@db/app"),
        ("RAGPG_DATABASE_URL", "secret"),
        ("RAGPG_OPENAI_BASE_URL", "localhost:11434/v1"),
        ("OPENAI_BASE_URL", "http://"),
        ("OPENAI_BASE_URL", "http://[secret"),
        ("RAGPG_REQUEST_TIMEOUT", "soon"),
        ("RAGPG_REQUEST_TIMEOUT", "0"),
        ("RAGPG_REQUEST_TIMEOUT", "nan"),
        ("RAGPG_EMBED_CONCURRENCY", "0"),
        ("RAGPG_EMBED_CONCURRENCY", "1.5"),
        ("RAGPG_EMBED_CONCURRENCY", "١"),
    ],
)
def test_a_malformed_variable_is_named_and_no_secret_is_shown(name, value):
    with pytest.raises(ConfigError, match=name) as caught:
        Settings.from_env({name: value})
    assert "secret" not in str(caught.value)


def test_an_unknown_argument_is_refused():
    with pytest.raises(ConfigError, match="databse_url"):
        Settings.from_env({}, databse_url="x")


def test_repr_hides_the_connection_string():
    assert "secret" not in repr(Settings(database_url="postgresql://ana:secret@db/app"))


def test_importing_loads_nothing_heavy():
    script = (
        "import sys, ragpg.config\n"
        "heavy = {'numpy', 'onnxruntime', 'openai', 'tokenizers'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
