import Errand

/// The opening handshake of an open socket, which continues with messages. A class, because most activities have no
/// socket and then need only room for a reference.
final class SocketDraft: Sendable {
    let handshake: ExchangeDraft
    let ending: EndedExchange.Ending

    init(handshake: ExchangeDraft, ending: EndedExchange.Ending) {
        (self.handshake, self.ending) = (handshake, ending)
    }
}
