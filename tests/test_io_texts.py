import logging

import pyarrow as pa
import pytest
from pyarrow import parquet

from pairgram.errors import FileFormatError
from pairgram.io.texts import read_texts


@pytest.fixture
def write(tmp_path):
    def put(name, content):
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        return path

    return put


@pytest.mark.quick
def test_tsv_keeps_quotes_and_blanks(write):
    found = read_texts(write("n.tsv", '007\tsay "hi", then\n8\t\n9\t x \n'))
    assert found.ids == ["007", "8", "9"]
    assert found.texts == ['say "hi", then', "", " x "]


def test_csv_columns_are_joined(write):
    path = write("n.csv", 'id,year,title,abstract\na,1999,T,"A, with\nlines"\nb,2000,,B\n')
    found = read_texts(path, text_columns=["title", "abstract"])
    assert found.texts == ["T A, with\nlines", "B"]
    assert read_texts(path, text_columns="title").texts == ["T", ""]
    assert read_texts(path, id_column="year", text_columns=0).ids == ["1999", "2000"]


def test_column_named_text_is_preferred(write):
    assert read_texts(write("n.csv", "text,id,other\nhello,a,x\n")).texts == ["hello"]
    assert read_texts(write("m.csv", "id,one,two\na,x,y\n")).texts == ["x y"]


def test_parquet_with_missing_texts(tmp_path):
    path = tmp_path / "n.parquet"
    parquet.write_table(pa.table({"id": [3, 4], "title": ["t", None], "body": ["b", "c"]}), path)
    found = read_texts(path, text_columns=["title", "body"])
    assert found.ids == ["3", "4"]
    assert found.texts == ["t b", "c"]


def test_repeated_ids_keep_the_first_and_say_so(write, caplog):
    with caplog.at_level(logging.WARNING):
        found = read_texts(write("n.tsv", "a\tone\nb\ttwo\na\tthree\n"))
    assert found.texts == ["one", "two"]
    assert "1 rows repeat an earlier id" in caplog.text


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("n.tsv", "a\n", "has one column, texts need two"),
        ("n.tsv", "a\tx\nb\ty\tz\n", "line 2: expected 2 columns, found 3"),
        ("n.tsv", "a\tx\n\ty\n", "line 2: the id in column 0 is empty"),
        ("n.csv", "id,text\na\n", "line 2: expected 2 columns, found 1"),
    ],
)
def test_faulty_files_name_the_line(write, name, content, message):
    with pytest.raises(FileFormatError, match=message):
        read_texts(write(name, content))


@pytest.mark.parametrize(("name", "cut"), [("n.tsv", "\t"), ("n.csv", ",")])
def test_a_text_of_megabytes(write, name, cut):
    long = "word " * 1_000_000
    assert read_texts(write(name, f"a{cut}{long}\n")).texts == [long]


def test_quoted_line_ends_in_the_first_row(write):
    assert read_texts(write("n.csv", 'a,"x\ny"\nb,z\n')).texts == ["x\ny", "z"]
    many = "".join(f'{row},"x\n\ny"\n' for row in range(300))
    assert read_texts(write("m.csv", many)).texts == ["x\n\ny"] * 300
