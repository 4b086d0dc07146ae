"""A bot on Slack's own library: `echo_bot.py API_URL BOT_TOKEN APP_TOKEN`.

Answers mentions in their thread by chat.postMessage, changes its answer by chat.update, and answers the mention
"stream it" by a native stream. Prints "ready" once it is connected, and ends when its input does.
"""

import sys

from slack_sdk import WebClient
from slack_sdk.socket_mode import SocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse

api_url, bot_token, app_token = sys.argv[1:]
# The library joins the method to the address as it is.
base_url = api_url + "/"
web = WebClient(token=bot_token, base_url=base_url)
app = SocketModeClient(
    app_token=app_token, web_client=WebClient(token=app_token, base_url=base_url)
)


def on_request(client: SocketModeClient, request: SocketModeRequest) -> None:
    client.send_socket_mode_response(SocketModeResponse(envelope_id=request.envelope_id))
    event = request.payload.get("event", {})
    if event.get("type") != "app_mention":
        return
    said = event["text"].split("> ", 1)[1]
    thread = event.get("thread_ts", event["ts"])
    if said == "stream it":
        stream = web.chat_stream(
            channel=event["channel"],
            thread_ts=thread,
            recipient_team_id=request.payload["team_id"],
            recipient_user_id=event["user"],
        )
        stream.append(markdown_text="Stre")
        stream.append(markdown_text="amed")
        stream.stop()
        return
    posted = web.chat_postMessage(channel=event["channel"], thread_ts=thread, text="…")
    web.chat_update(channel=event["channel"], ts=posted["ts"], text=f"Echo: {said}")
    replies = web.conversations_replies(channel=event["channel"], ts=thread)
    assert replies["messages"][-1]["text"] == f"Echo: {said}", replies.data


assert web.auth_test()["ok"]
app.socket_mode_request_listeners.append(on_request)
app.connect()
print("ready", flush=True)
sys.stdin.read()
app.close()
