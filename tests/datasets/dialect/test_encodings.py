"""Which encodings are certain by their words, and which are a choice."""

from __future__ import annotations

import itertools

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


EUROPEAN = {
    "French": ("cp1252", "Hélène François Jérôme Béatrice Orléans Besançon Nîmes crêpe bœuf l’été"),
    "German": ("cp1252", "Jürgen Günther Käthe Müller Schäfer Weiß München Köln Überweisung Öl"),
    "Spanish": ("cp1252", "José María Íñigo Núñez Málaga Logroño León azúcar ¿Está jamón"),
    "Portuguese": ("cp1252", "João Conceição Inês Gonçalo Brasília Maceió pão maçã São informação"),
    "Italian": ("cp1252", "Niccolò Giosuè Forlì Cefalù ragù novità quantità velocità Mosè Cantù"),
    "Swedish": ("cp1252", "Åsa Björn Göran Malmö Västerås Örebro smör köttbullar räkor hög"),
    "Danish": ("cp1252", "Søren Jørgen Kåre København Århus Køge smørrebrød øl æble blåbær"),
    "Finnish": ("cp1252", "Mäkinen Hämäläinen Jyväskylä Seinäjoki pöytä sähkö hyvä päivä kenkä"),
    "Polish": ("cp1250", "Michał Łukasz Małgorzata Wójcik Kraków Gdańsk jabłko książka źródło"),
    "Czech": ("cp1250", "Jiří Tomáš Ondřej Dvořák Plzeň Kroměříž Šumperk máslo žlutý židle"),
    "Czech of Unix": ("iso8859_2", "Jiří Tomáš Ondřej Dvořák Plzeň Kroměříž Šumperk žlutý"),
    "Hungarian": ("cp1250", "László Győző Szűcs Győr Kőszeg gyümölcs könyv hűtő bőr fűszer"),
    "Turkish": ("cp1254", "Ayşe Işık Şahin Öztürk İstanbul Muğla Şanlıurfa kırmızı düşük çay"),
    "Lithuanian": ("cp1257", "Šiauliai Panevėžys Klaipėda Ąžuolas Rūta Jūratė sūris grietinė"),
    "Russian": ("cp1251", "Москва Казань Пермь Иванов яблоко хлеб количество отправлено"),
    "prices": ("cp1252", "12,50_€ 99_€ 7_€ 21°C “a” – b"),
    "of many countries": ("cp1252", "Hélène Jürgen José João Søren Åsa Niccolò Zürich Núñez Weiß"),
}


@pytest.mark.parametrize("language", list(EUROPEAN))
def test_words_of_a_european_language_need_no_choice(language: str) -> None:
    encoding, text = EUROPEAN[language]
    found = candidates(words(text, encoding))
    assert certain(found)
    assert words(text, encoding).decode(found[0].encoding) == "\n".join(text.split())


@pytest.mark.parametrize("language", list(EUROPEAN))
def test_few_words_of_it_are_read_as_they_are_written_or_are_a_choice(language: str) -> None:
    encoding, text = EUROPEAN[language]
    listed = [each for each in text.split() if not each.isascii()]
    for few in [*((each,) for each in listed), *itertools.pairwise(listed)]:
        given = "\n".join(few)
        found = candidates(given.encode(encoding))
        readings = [given.encode(encoding).decode(each.encoding) for each in found]
        assert given in readings
        assert not certain(found) or readings[0] == given, few
