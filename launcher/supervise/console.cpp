#include "launcher/supervise/console.hpp"

#include <utility>

namespace forklift {

Console::Console(boost::asio::io_context& io, const ConsoleSettings& settings) : colour_(settings.colour) {
  Sink output(settings.standard_output);
  Sink error(settings.standard_error);
  const auto make = [&](Sink sink, std::string name) {
    ConsoleChannel::Callbacks callbacks;
    callbacks.accepting = [this] {
      if (accepting_) accepting_();
    };
    callbacks.emptied = [this] { call_if_flushed(); };
    return std::make_shared<ConsoleChannel>(io, std::move(sink), std::move(name), settings.terminal_progress,
                                            std::move(callbacks));
  };
  if (output.identity() == error.identity()) {
    output_ = make(std::move(output), "standard output and standard error");
    error_ = output_;
  } else {
    output_ = make(std::move(output), stream_name(OutputStream::standard_output));
    error_ = make(std::move(error), stream_name(OutputStream::standard_error));
  }
}

bool Console::coloured(OutputStream stream) const {
  switch (colour_) {
    case Colour::automatic:
      return is_terminal(stream);
    case Colour::always:
      return true;
    case Colour::never:
      return false;
  }
  return false;
}

void Console::show_live(OutputStream stream, Rank rank, std::string text) {
  channel(stream).show_live({rank, stream}, std::move(text));
}

void Console::when_flushed(std::function<void()> handler) {
  flushed_.push_back(std::move(handler));
  output_->end_live();
  error_->end_live();
  output_->announce_empty();
}

void Console::call_if_flushed() {
  if (output_->queued() > 0 || error_->queued() > 0) return;
  for (const auto& handler : std::exchange(flushed_, {})) handler();
}

std::size_t Console::abandon() {
  const std::size_t from_output = output_->abandon();
  return both_are_one() ? from_output : from_output + error_->abandon();
}

std::vector<std::string> Console::notes() const {
  std::vector<std::string> notes;
  if (!output_->note().empty()) notes.push_back(output_->note());
  if (!both_are_one() && !error_->note().empty()) notes.push_back(error_->note());
  return notes;
}

ConsoleChannel& Console::channel(OutputStream stream) {
  return stream == OutputStream::standard_output ? *output_ : *error_;
}

const ConsoleChannel& Console::channel(OutputStream stream) const {
  return stream == OutputStream::standard_output ? *output_ : *error_;
}

}  // namespace forklift
