import Errand
import ErrandOutbox

/// A request of a ``RandomRun``: numbers that a server must process exactly once.
struct RandomWork: OutboxRequest {
    typealias Output = Void

    enum Kind: String, Codable {
        /// Sent unchanged.
        case note
        /// The last draft of a lane wins.
        case draft
        /// Waiting carts of a lane are merged.
        case cart
    }

    let kind: Kind
    let lane: String
    var numbers: [Int]
    /// The numbers of notes that must be processed first.
    var after: [Int] = []
    /// Whether the handler has edited it; a server refuses some numbers until then.
    var isEdited = false
    var filling = ""

    var method: HTTPMethod { .post }
    var path: String { "work" }
    var body: RequestBody { .json(self) }
    var outboxLane: String { lane }
    var replacementKey: String? { kind == .note ? nil : kind.rawValue }

    func merging(_ older: RandomWork) -> RandomWork {
        guard kind == .cart else { return self }
        var merged = self
        merged.numbers = older.numbers + numbers
        merged.after = older.after + after
        return merged
    }
}
