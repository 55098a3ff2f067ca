import Errand

/// A thrown error, recognised where it arrives again.
struct ThrownError {
    private let error: any Error

    init(_ error: any Error) { self.error = error }

    /// Whether another error is this one, thrown again: the same object, the same failure of one activity, or the same
    /// failure of a step. Swift gives other values no identity: they are the same if they are equal or, without
    /// `Equatable`, read the same.
    func isSame(as other: any Error) -> Bool {
        guard type(of: error) == type(of: other) else { return false }
        switch (error, other) {
        case (let error as ErrandError, let other as ErrandError) where error.activity != nil || other.activity != nil:
            return error.activity == other.activity && error.code == other.code
        case (let error as ChainError, let other as ChainError):
            return error.chain == other.chain && error.index == other.index
                && ThrownError(error.underlying).isSame(as: other.underlying)
        default:
            if type(of: error) is AnyClass { return error as AnyObject === other as AnyObject }
            if let error = error as? any Equatable { return Self.areEqual(error, other) }
            return String(reflecting: error) == String(reflecting: other)
        }
    }

    private static func areEqual<Value: Equatable>(_ value: Value, _ other: any Error) -> Bool {
        other as? Value == value
    }
}
