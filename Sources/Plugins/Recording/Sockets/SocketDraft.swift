import Errand
import ErrandEssentials

/// The opening handshake of a socket that is open: an exchange that goes on with messages.
struct SocketDraft: Sendable {
    var handshake: ExchangeDraft
    let ending: EndedExchange.Ending

    mutating func add(_ message: StreamMessage, at date: Date, limit: Int) {
        handshake.messages?.add(message, at: date, limit: limit)
    }
}
