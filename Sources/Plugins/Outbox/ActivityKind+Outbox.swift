public import Errand

extension ActivityKind {
    /// The delivery of one outbox entry, from its turn to its outcome. The entry's request is a child of this activity.
    public static let outbox = ActivityKind(rawValue: "outbox")
}
