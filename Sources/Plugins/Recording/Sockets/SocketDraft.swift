import Errand

/// The opening handshake of a socket that is open: an exchange that goes on with messages. An object: most activities
/// have none, and the room of a reference for one.
final class SocketDraft: Sendable {
    let handshake: ExchangeDraft
    let ending: EndedExchange.Ending

    init(handshake: ExchangeDraft, ending: EndedExchange.Ending) {
        (self.handshake, self.ending) = (handshake, ending)
    }
}
