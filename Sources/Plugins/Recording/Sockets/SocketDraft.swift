import Errand

/// The opening handshake of a socket that is open: an exchange that goes on with messages.
struct SocketDraft: Sendable {
    let handshake: ExchangeDraft
    let ending: EndedExchange.Ending
}
