public import Errand
import ErrandEssentials

/// An error of a store.
public struct CacheStoreError: DescribedError, Sendable {
    /// A sentence without secrets.
    public let description: String

    /// Makes an error with a sentence, which must not contain secrets.
    public init(_ description: String) { self.description = description }

    /// 1: there is one kind.
    public var errorCode: Int { 1 }
}

extension CacheStoreError {
    /// The sentence for people.
    public var failureSentence: FailureSentence { .fileFailed }
}
