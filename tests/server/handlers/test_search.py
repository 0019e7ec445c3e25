"""Searching and reading the past over HTTP."""

from __future__ import annotations

from tests.support.jupyter import RunningServer
from tests.support.model_server import Say, ScriptedModelServer


def test_a_message_is_found_and_leads_back_to_its_turn(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Say("Use sns.heatmap(df_train.corr())."), Say("Ok."))
    first = server.post("chat", {"message": "How do I draw correlations? 相関"})
    server.post("chat", {"message": "Thanks", "sessionId": first["sessionId"]})
    (hit,) = server.get("search", q="sns.heatmap")["results"]
    assert hit == {
        "sessionId": first["sessionId"],
        "sessionTitle": "How do I draw correlations? 相関",
        "turnId": first["turnId"],
        "role": "assistant",
        "snippet": "Use sns.heatmap(df_train.corr()).",
        "marks": [{"start": 4, "end": 15}],
        "createdAt": hit["createdAt"],
    }
    (asked,) = server.get("search", q="相関", limit=1)["results"]
    assert (asked["role"], asked["turnId"]) == ("user", first["turnId"])
    assert server.get("search", q="sns.heatmap", sessionId="other")["results"] == []
    place = server.get(f"turns/{hit['turnId']}")
    assert place["turn"]["message"] == "How do I draw correlations? 相関"
    assert place["sessionTitle"] == hit["sessionTitle"]
    (key,) = place["responses"]
    answer = server.get("responses", **key)
    assert answer["text"] == "Use sns.heatmap(df_train.corr())."
    assert answer["provenance"] == {
        "aiTurnId": first["turnId"],
        "providerId": "openai",
        "responseType": "batch",
        "responseIndex": 0,
    }
    server.request("DELETE", f"sessions/{first['sessionId']}")
    assert server.get("search", q="sns.heatmap")["results"] == []
    assert server.request("GET", f"turns/{hit['turnId']}").status_code == 404
    assert server.request("GET", "responses", params=key).status_code == 404


def test_a_search_that_cannot_be_made_says_what_is_wrong(server: RunningServer) -> None:
    for query, message in (
        ("", "q (the text to search for) is empty"),
        ("q=%20", "q (the text to search for) is empty"),
        ("q=a&limit=0", "limit must be from 1 to 100"),
        ("q=a&limit=x", "limit must be a whole number"),
        (f"q={'a' * 600}", "500 characters"),
    ):
        refused = server.request("GET", f"search?{query}")
        assert refused.status_code == 400, query
        assert message in refused.json()["error"]["message"]
    refused = server.request("GET", f"sessions?query={'a' * 600}")
    assert "query may have at most 500 characters" in refused.json()["error"]["message"]
    refused = server.request("GET", "responses?aiTurnId=t&responseType=batch")
    assert refused.json()["error"]["message"] == "Required but missing: providerId."
    refused = server.request("GET", "responses?aiTurnId=t&providerId=p&responseType=nonsense")
    assert refused.status_code == 400


def test_an_answer_in_edit_mode_that_proposes_code_is_a_proposal(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Say("So:\n\n```python cell=abc\nx = 1\n```\n"))
    reply = server.post("chat", {"message": "Set x", "mode": "edit"})
    (key,) = server.get(f"turns/{reply['turnId']}")["responses"]
    assert key["responseType"] == "proposal"
