"""Which encodings are certain by their words, and which are a choice."""

from __future__ import annotations

import pytest

from jupyter_datalayer_agent.datasets.dialect.encodings import candidates, certain

TOWNS = {
    "gb18030": "城市 北京 上海 广州 深圳 成都 重庆 哈尔滨",
    "cp932": "市 東京 大阪 名古屋 さいたま市 カタカナ",
    "big5": "縣市 臺北 高雄 臺中 臺南",
    "cp1251": "город Москва Санкт-Петербург Казань Омск Пермь",
    "koi8_r": "город Москва Санкт-Петербург Казань Омск Пермь",
    "cp1253": "πόλη Αθήνα Θεσσαλονίκη Πάτρα Ηράκλειο",
    "cp1256": "مدينة القاهرة الإسكندرية الجيزة",
    "cp874": "เมือง กรุงเทพ เชียงใหม่ ภูเก็ต",
    "cp1252": "Straße Hauptstraße Köln Römerweg München Bäckergasse Würzburg",
}
CHOICES = {
    "gb18030": "北京 北京0 北京1",
    "cp1251": "Москва Москва0 Москва1",
    "euc_jp": "市 東京 大阪 名古屋",
    "cp949": "도시 서울 부산 인천 대구",
    "cp1250": "Kraków Łódź Gdańsk Wrocław",
    "cp1254": "şehir İstanbul İzmir Muğla Şanlıurfa",
    "cp1252": "São_Paulo Tromsø Køln",
    "cp1253": "Αθήνα Αθήνα1",
    "cp1257": "Šiauliai Panevėžys Klaipėda",
}


def words(text: str, encoding: str) -> bytes:
    return "\n".join(text.split()).encode(encoding)


@pytest.mark.parametrize("encoding", list(TOWNS))
def test_some_words_of_a_script_are_certain(encoding: str) -> None:
    found = candidates(words(TOWNS[encoding], encoding))
    assert certain(found)
    assert found[0].encoding == encoding


@pytest.mark.parametrize("encoding", list(CHOICES))
def test_what_reads_well_in_two_encodings_is_a_choice_with_the_right_one_in_it(
    encoding: str,
) -> None:
    found = candidates(words(CHOICES[encoding], encoding))
    first = CHOICES[encoding].split()[0]
    previews = [each.preview.split(",")[0] for each in found]
    assert not certain(found) or found[0].encoding == encoding
    assert first in previews


@pytest.mark.parametrize("text", ["£5", "21°C", "“ü” – €", "é"])
def test_signs_and_single_letters_are_never_taken_for_another_script(text: str) -> None:
    found = candidates(text.encode("cp1252"))
    assert not certain(found) or found[0].preview == text


def test_letters_that_all_western_encodings_share_need_no_choice() -> None:
    assert certain(candidates(words("Zürich München Köln Düsseldorf", "cp1252")))
