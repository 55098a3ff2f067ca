import Errand

/// The identity of a thrown error, by which it differs from another that reads the same.
struct ThrownError {
    private let error: any Error

    init(_ error: any Error) { self.error = error }

    /// Whether another error is this one, thrown again: the same box, as `throw error` leaves it; or, where it was cast
    /// and boxed again, the same object, the same failure of one activity, or the same failure of a step.
    func isSame(as other: any Error) -> Bool {
        if Self.box(error) == Self.box(other) { return true }
        switch (error, other) {
        case (let error as ErrandError, let other as ErrandError):
            return error.activity != nil && error.activity == other.activity && error.code == other.code
        case (let error as ChainError, let other as ChainError):
            return error.chain == other.chain && error.index == other.index
                && ThrownError(error.underlying).isSame(as: other.underlying)
        default:
            guard type(of: error) is AnyClass, type(of: other) is AnyClass else { return false }
            return error as AnyObject === other as AnyObject
        }
    }

    /// An error of any type is held as one reference to its box.
    private static func box(_ error: any Error) -> UInt {
        withUnsafeBytes(of: Held(error: error)) { $0.load(as: UInt.self) }
    }

    /// Holds the reference itself, not the content of the box.
    private struct Held { let error: any Error }
}
