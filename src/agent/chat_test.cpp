#include "agent/chat.h"

#include <gtest/gtest.h>

#include "agent/test_http.h"

namespace holdpoint::agent {
namespace {

const std::string whole =
    R"({"choices": [{"message": {"role": "assistant", "content": null, "tool_calls": [
  {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{\"a\":1}"}},
  {"id": "c2", "type": "function", "function": {"name": "look", "arguments": {"a": 2}}}]}}],
  "usage": {"prompt_tokens": 10, "completion_tokens": 5}})";

const std::string streamed =
    "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"Let \"}}]}\n\n"
    ": a comment\n\n"
    "data: {\"choices\":[{\"delta\":{\"content\":\"me see\"}}]}\n\n"
    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"function\":"
    "{\"name\":\"look\",\"arguments\":\"\"}}]}}]}\n\n"
    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":"
    "\"{\\\"a\\\":\"}}]}}]}\n\n"
    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":"
    "\"1}\"}}]}}]}\n\n"
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":5}}\n\n";

ChatOptions options(const CannedServer& server, bool is_streaming) {
    ChatOptions options;
    options.url = server.url() + "/v1";
    options.model = "m";
    options.key = "k";
    options.is_streaming = is_streaming;
    options.retry_pause = std::chrono::milliseconds(1);
    return options;
}

Model::Prompt prompt() {
    Model::Prompt prompt;
    prompt.messages = {{Role::system, "Be kind.", {}, ""},
                       {Role::user, "Look!", {}, ""},
                       {Role::assistant, "", {{"c0", "look", "{}"}}, ""},
                       {Role::tool, "nothing", {}, "c0"}};
    return prompt;
}

TEST(ChatModel, A7_a_whole_answer_gives_text_calls_and_usage) {
    CannedServer server({reply(200, "application/json", whole)});
    const Result<Turn> turn = make_chat_model(options(server, false))->complete(prompt());
    ASSERT_TRUE(turn) << turn.error().message;
    ASSERT_EQ(turn->message.calls.size(), 2U);
    EXPECT_EQ(turn->message.calls[0].arguments, R"({"a":1})");
    EXPECT_EQ(turn->message.calls[1].arguments, R"({"a":2})");
    EXPECT_EQ(turn->usage.total(), 15);
    ASSERT_EQ(server.received.size(), 1U);
    EXPECT_NE(server.received[0].find("POST /v1/chat/completions"), std::string::npos);
    EXPECT_NE(server.received[0].find("Authorization: Bearer k"), std::string::npos);
    EXPECT_NE(server.received[0].find(R"("tool_call_id":"c0")"), std::string::npos);
}

TEST(ChatModel, A7_a_streamed_answer_is_put_together_and_told_as_it_comes) {
    CannedServer server({reply(200, "text/event-stream", streamed + "data: [DONE]\n\n")});
    std::string told;
    Model::Prompt asked = prompt();
    asked.on_text = [&](std::string_view text) { told += text; };
    const Result<Turn> turn = make_chat_model(options(server, true))->complete(asked);
    ASSERT_TRUE(turn) << turn.error().message;
    EXPECT_EQ(told, "Let me see");
    EXPECT_EQ(turn->message.text, "Let me see");
    ASSERT_EQ(turn->message.calls.size(), 1U);
    EXPECT_EQ(turn->message.calls[0].arguments, R"({"a":1})");
    EXPECT_EQ(turn->usage.total(), 15);
}

TEST(ChatModel, A7_a_listener_that_throws_ends_the_answer_and_nothing_else) {
    CannedServer server({reply(200, "text/event-stream", streamed + "data: [DONE]\n\n")});
    Model::Prompt asked = prompt();
    asked.on_text = [](std::string_view) { throw std::runtime_error("no screen"); };
    const Result<Turn> turn = make_chat_model(options(server, true))->complete(asked);
    ASSERT_FALSE(turn);
    EXPECT_NE(turn.error().message.find("no screen"), std::string::npos);
}

TEST(ChatModel, A7_a_stream_that_breaks_off_gives_no_half_a_call) {
    StreamedTurn turn;
    for (std::size_t at = 0; at < streamed.size();) {
        const std::size_t end = streamed.find("\n\n", at);
        if (streamed.compare(at, 6, "data: ") == 0)
            ASSERT_TRUE(turn.take(streamed.substr(at + 6, end - at - 6), {}));
        at = end + 2;
    }
    EXPECT_FALSE(turn.finish());
}

TEST(ChatModel, A7_what_passes_is_tried_again_and_what_does_not_is_told) {
    CannedServer busy({reply(503, "application/json", "{}"), reply(429, "application/json", "{}"),
                       reply(200, "application/json", whole)});
    EXPECT_TRUE(make_chat_model(options(busy, false))->complete(prompt()));
    EXPECT_EQ(busy.received.size(), 3U);
    CannedServer wrong({reply(401, "application/json", R"({"error": {"message": "bad key"}})")});
    const Result<Turn> refused = make_chat_model(options(wrong, false))->complete(prompt());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::unauthenticated);
    EXPECT_EQ(refused.error().message, "bad key");
}

TEST(ChatModel, A7_an_answer_that_is_none_is_an_error) {
    for (const char* body : {"{}", "nonsense", R"({"choices": []})", R"({"choices": "x"})"}) {
        CannedServer server({reply(200, "application/json", body)});
        EXPECT_FALSE(make_chat_model(options(server, false))->complete(prompt())) << body;
    }
}

TEST(ChatModel, A7_confirmed_tools_show_the_model_the_two_arguments_more) {
    Tool tool;
    tool.name = "delete";
    tool.preview = [](const Json&) -> Result<Json> { return Json(); };
    const Toolbox tools{tool};
    Model::Prompt asked;
    asked.tools = &tools;
    const Json body = chat_body({}, asked);
    const Json properties = body["tools"][0]["function"]["parameters"]["properties"];
    EXPECT_TRUE(properties.has("confirmed"));
    EXPECT_TRUE(properties.has("confirmation_token"));
}

TEST(ScriptedModel, A7_plays_the_next_turn_that_fits_what_was_heard) {
    const Result<std::shared_ptr<Model>> model = make_scripted_model(*Json::parse(
        R"([{"when": "never", "say": "no"}, {"say": "one"}, {"when": "yes", "say": "two"}])"));
    ASSERT_TRUE(model);
    Model::Prompt heard;
    heard.messages = {{Role::user, "oh yes", {}, ""}};
    EXPECT_EQ((*model)->complete(heard)->message.text, "one");
    EXPECT_EQ((*model)->complete(heard)->message.text, "two");
    EXPECT_EQ((*model)->complete(heard)->message.text, "");
    EXPECT_FALSE(make_scripted_model(*Json::parse(R"([{"sya": "typo"}])")));
    EXPECT_FALSE(make_scripted_model(Json::object()));
    EXPECT_FALSE(load_scripted_model("/nowhere"));
}

}  // namespace
}  // namespace holdpoint::agent
