import Errand
import ErrandOutbox

/// A request of a ``RandomRun``: some numbers, on which a server is to work once.
struct RandomWork: OutboxRequest {
    typealias Output = Void

    enum Kind: String, Codable {
        /// Sent as it is.
        case note
        /// The last one of a lane wins.
        case draft
        /// Those of a lane that wait become one.
        case cart
    }

    let kind: Kind
    let lane: String
    var numbers: [Int]
    /// The numbers of notes that are worked on before.
    var after: [Int] = []
    /// Whether the handler has seen it: a server refuses some numbers until then.
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
