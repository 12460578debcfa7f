"""02.3: the answer, or whose "no" it is."""

from exercises.machine import Task, expect, refused
from mini_agent.errors import JsonRpcError, MalformedMessage, RequestTimeout

TASK = Task(
    "02.3",
    "`parse_response`: eight refused, two odd ones not",
    level="solid",
    minutes=20,
    section="Odd, but legal",
    text="""
Write `parse_response(message)`. `message` is what came out of the JSON parser, so it may be
anything.

- A good answer: return its `result`, as it is.
- The peer's `error` object: raise `JsonRpcError(code, message)` with the peer's own two.
- Anything else: raise `MalformedMessage("what is wrong")`.

The check has eight malformed messages, each wrong in its own way, and two that look wrong and are
legal.
""",
    hints=(
        "Write down the questions in the order in which they can be asked: is it one message? is "
        "it a response? is it a no? is the result one that we understand?",
        'Beware of `message.get("error")` where you mean "is it there", of `or {}`, and of True, '
        "which is an int in Python. For an error only `code` and `message` matter; their types can "
        "be wrong as well.",
        'Refuse: no dict; another `jsonrpc` than "2.0"; an id that is no string and no integer; '
        "both of `result` and `error`, or neither; a `result` that is no dict, or has no id beside "
        'it; a `resultType` other than "complete" and "input_required"; an `error` that is no dict '
        "with an integer `code` and a text.",
    ),
)


@TASK.solution
def one_question_after_the_other():
    def parse_response(message):
        ### BEGIN SOLUTION
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            raise MalformedMessage("this is no JSON-RPC 2.0 message")
        request_id = message.get("id")
        if isinstance(request_id, bool) or not isinstance(request_id, str | int | None):
            raise MalformedMessage("an id is a string or an integer")
        if ("result" in message) == ("error" in message):
            raise MalformedMessage("a response holds either a result or an error")
        if "error" in message:
            error = message["error"]
            code = error.get("code") if isinstance(error, dict) else None
            if type(code) is not int or not isinstance(error.get("message"), str):
                raise MalformedMessage("an error has an integer code and a message")
            raise JsonRpcError(code, error["message"])
        result = message["result"]
        if request_id is None or not isinstance(result, dict):
            raise MalformedMessage("a result is an object, under the id of its request")
        if result.get("resultType", "complete") not in ("complete", "input_required"):
            raise MalformedMessage("this kind of result is unknown here")
        return result
        ### END SOLUTION

    return parse_response


@TASK.right
def by_pattern():
    def parse_response(message):
        match message:
            case {"jsonrpc": "2.0", "result": _, "error": _}:
                raise MalformedMessage("two answers in one")
            case {"jsonrpc": "2.0", "id": bool() | float() | list() | dict()}:
                raise MalformedMessage("an odd id")
            case {"jsonrpc": "2.0", "error": {"code": bool()}}:
                raise MalformedMessage("an odd code")
            case {"jsonrpc": "2.0", "error": {"code": int(code), "message": str(text)}}:
                raise JsonRpcError(code, text)
            case {"jsonrpc": "2.0", "id": str() | int(), "result": {**result}}:
                if result.setdefault("resultType", "complete") in {"complete", "input_required"}:
                    return message["result"]
        raise MalformedMessage(f"no response: {message!r:.80}")

    return parse_response


def careful(message, without=""):
    """The same with one rule left out, for the answers that forget it."""

    def rule(name, holds):
        if not holds and name != without:
            raise MalformedMessage(name)

    rule("object", isinstance(message, dict))
    rule("version", message.get("jsonrpc") == "2.0")
    request_id, error = message.get("id"), message.get("error")
    if without != "id":
        rule("id", request_id is None or type(request_id) in (str, int))
    rule("not both", not ("result" in message and "error" in message))
    rule("one of them", "result" in message or "error" in message)
    if "error" in message:
        rule("error object", isinstance(error, dict) and type(error.get("code")) is int)
        rule("error id", without != "error without id" or request_id is not None)
        raise JsonRpcError(error["code"], error["message"])
    result = message.get("result", {})
    rule("result object", isinstance(result, dict))
    kind = result.get("resultType", "complete") if isinstance(result, dict) else "complete"
    rule("resultType", kind in ("complete", "input_required"))
    rule("id of a result", request_id is not None)
    return result


# -- the check ------------------------------------------------------------------------------------


def response(**members):
    return {"jsonrpc": "2.0", "id": 1, **members}


def must_refuse(parse_response, message, idea=""):
    refused(MalformedMessage, parse_response, message, when=f"the message is {message}", idea=idea)


@TASK.part(
    "a result comes back as it is",
    idea="Whoever asked needs all of it: resultType, content, structuredContent, isError. The kind "
    "input_required is known too, and what to do about it is for the layer above to say.",
)
def a_result_comes_back(parse_response):
    full = {"resultType": "complete", "content": [], "structuredContent": {"hours": 3}}
    for result in (full, {"resultType": "input_required", "requestState": "s"}):
        expect(parse_response(response(result=result)), result)


@TASK.part(
    "a tool that failed is an answer",
    idea="isError is a business result: the tool ran and could not do it. The model must see why, "
    "so it is returned like any other; raised, it would stop the run.",
)
def a_tool_error_is_returned(parse_response):
    said = [{"type": "text", "text": "no such day"}]
    result = {"resultType": "complete", "content": said, "isError": True}
    expect(parse_response(response(result=result)), result)


@TASK.part(
    "the peer's no is raised, under its own code",
    idea="An error object is the peer's no. Its class follows from the code and never from the "
    'text: "timed out" in a peer\'s mouth is no deadline of ours. A no that becomes an empty '
    "result is an answer that nobody gave.",
)
def the_peers_no(parse_response):
    for code, text in ((-32602, "unknown tool"), (-32001, "request timed out")):
        message = response(error={"code": code, "message": text})
        error = refused(JsonRpcError, parse_response, message, when=f"the message is {message}")
        expect((error.code, error.message), (code, text), when=f"the message is {message}")


@TASK.part(
    "malformed 1: a batch",
    idea="Since 2025-06-18 a message is one object, never a list of them.",
)
def a_batch(parse_response):
    must_refuse(parse_response, [response(result={})])


@TASK.part(
    "malformed 2: no version",
    idea='Whatever lacks "jsonrpc": "2.0" is JSON of somebody else. A proxy\'s error page in JSON '
    "has a result or an error too.",
)
def no_version(parse_response):
    must_refuse(parse_response, {"id": 1, "result": {}})


@TASK.part(
    "malformed 3: an id that is none",
    idea="True is an int in Python and True == 1: this answer would be handed to whoever asked "
    "request 1.",
)
def an_odd_id(parse_response):
    must_refuse(parse_response, {**response(result={}), "id": True})


@TASK.part(
    "malformed 4: a result and an error",
    idea="Both at once is two answers. Each order of asking picks another one, and JSON-RPC says "
    "that the other must not exist; a member that is null exists.",
)
def both(parse_response):
    must_refuse(parse_response, response(result={}, error={"code": -1, "message": "?"}))
    must_refuse(parse_response, response(result={}, error=None))


@TASK.part(
    "malformed 5: neither",
    idea="No result is not an empty result. Who guesses {} here tells the user that there is "
    "nothing.",
)
def neither(parse_response):
    must_refuse(parse_response, response())


@TASK.part(
    "malformed 6: a result that is no object",
    idea="A result is an object in MCP. A list or a text looks harmless here, and fails far away, "
    "where nobody knows whose fault it was.",
)
def no_object(parse_response):
    for result in ([], "09:00 Standup", None):
        must_refuse(parse_response, response(result=result))


@TASK.part(
    "malformed 7: an unknown kind of result",
    idea="A kind of result that the revision does not name may mean that the answer comes later. "
    "Stopping costs one call, a wrong guess every step after it.",
)
def unknown_kind(parse_response):
    must_refuse(parse_response, response(result={"resultType": "task", "taskId": "t-9"}))


@TASK.part(
    "malformed 8: an error without a code",
    idea="The code decides what a host does. An error whose code is missing, or a text, is none.",
)
def no_code(parse_response):
    for error in ("unknown tool", {"message": "unknown tool"}, {"code": "x", "message": "?"}):
        must_refuse(parse_response, response(error=error))


@TASK.part(
    "odd, but legal 1: no resultType",
    idea="Servers of earlier revisions do not send resultType; absent, it means complete. Strict "
    "is not picky.",
)
def legal_without_kind(parse_response):
    result = {"structuredContent": {"status": "delivered_late"}}
    expect(parse_response({**response(result=result), "id": "41"}), result)


@TASK.part(
    "odd, but legal 2: an error without an id",
    idea="Who could not read the request does not know its id, and may still say so.",
)
def legal_without_id(parse_response):
    message = {"jsonrpc": "2.0", "error": {"code": -32700, "message": "Parse error"}}
    error = refused(JsonRpcError, parse_response, message, when=f"the message is {message}")
    expect(error.code, -32700)


# -- what people write ----------------------------------------------------------------------------


@TASK.wrong("input_required is known too")
def only_complete():
    def parse_response(message):
        result = careful(message)
        if result.get("resultType", "complete") != "complete":
            raise MalformedMessage("not complete")
        return result

    return parse_response


@TASK.wrong("needs all of it")
def what_was_looked_at_taken_out():
    def parse_response(message):
        result = dict(careful(message))
        result.pop("resultType", None)
        return result

    return parse_response


@TASK.wrong("needs all of it")
def only_the_content():
    def parse_response(message):
        return careful(message).get("content", [])

    return parse_response


@TASK.wrong("a business result")
def the_tool_error_raised():
    def parse_response(message):
        result = careful(message)
        if result.get("isError"):
            raise JsonRpcError(-32000, "the tool failed")
        return result

    return parse_response


@TASK.wrong("an answer that nobody gave")
def the_no_swallowed():
    def parse_response(message):
        try:
            return careful(message)
        except JsonRpcError:
            return {}

    return parse_response


@TASK.wrong("never from the text")
def the_class_by_its_text():
    def parse_response(message):
        try:
            return careful(message)
        except JsonRpcError as error:
            if "timed out" in error.message:
                raise RequestTimeout(error.message, seconds=30) from error
            raise

    return parse_response


@TASK.wrong("one object, never a list")
def the_first_of_a_batch():
    def parse_response(message):
        return careful(message[0] if isinstance(message, list) else message)

    return parse_response


def _without(rule):
    def parse_response(message):
        return careful(message, without=rule)

    return parse_response


@TASK.wrong("JSON of somebody else")
def any_version():
    parse_response = _without("version")
    return parse_response


@TASK.wrong("True == 1")
def true_is_an_int():
    parse_response = _without("id")
    return parse_response


@TASK.wrong("two answers")
def the_result_first():
    def parse_response(message):
        if isinstance(message, dict) and isinstance(message.get("result"), dict):
            message = {key: value for key, value in message.items() if key != "error"}
        return careful(message)

    return parse_response


@TASK.wrong("a member that is null exists")
def null_counts_as_absent():
    def parse_response(message):
        if isinstance(message, dict) and message.get("error", 0) is None:
            message = {k: v for k, v in message.items() if k != "error"}
        return careful(message)

    return parse_response


@TASK.wrong("not an empty result")
def nothing_is_an_empty_result():
    parse_response = _without("one of them")
    return parse_response


@TASK.wrong("fails far away")
def any_result():
    parse_response = _without("result object")
    return parse_response


@TASK.wrong("a wrong guess every step after it")
def guessing_at_garbage():
    parse_response = _without("resultType")
    return parse_response


@TASK.wrong("missing, or a text")
def a_code_of_zero_for_none():
    def parse_response(message):
        error = message.get("error") if isinstance(message, dict) else None
        if error is not None and "result" not in message:
            code = error.get("code") if isinstance(error, dict) else None
            text = error.get("message") if isinstance(error, dict) else str(error)
            raise JsonRpcError(code if type(code) is int else 0, text)
        return careful(message)

    return parse_response


@TASK.wrong("Strict is not picky")
def wants_every_member():
    def parse_response(message):
        result = careful(message)
        if "resultType" not in result:
            raise MalformedMessage("no resultType")
        return result

    return parse_response


@TASK.wrong("does not know its id")
def every_answer_has_an_id():
    parse_response = _without("error without id")
    return parse_response
