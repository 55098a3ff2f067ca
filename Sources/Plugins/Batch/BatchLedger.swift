import Errand

/// The state of one running batch: the next part, the result of each, whether the outcome is decided. A pure value.
struct BatchLedger<Part: Sendable>: Sendable {
    typealias PartName = (label: String, request: (any Request)?)

    private let rule: BatchRule
    private let count: Int
    /// In the order of the parts; empty if a channel takes the results as they arrive.
    private var results: [Result<Part, any Error>?]
    private var next = 0
    private var first: (index: Int, response: Part)?
    private var failures: [BatchError.Failure] = []
    private var failureCount = 0
    /// Whether what is still running no longer matters.
    private(set) var isDecided = false

    init(_ rule: BatchRule, count: Int, keepsResponses: Bool) {
        (self.rule, self.count) = (rule, count)
        let isKept = keepsResponses && rule != .firstSuccess
        results = isKept ? Array(repeating: nil, count: count) : []
    }

    /// The part to start now; nil if there is none to start any more.
    mutating func take() -> Int? {
        guard !isDecided, next < count else { return nil }
        defer { next += 1 }
        return next
    }

    /// Records how a part ended; one that failed has its name. Returns whether that counts: after the decision it
    /// does not.
    mutating func end(_ index: Int, _ result: Result<Part, any Error>, _ name: PartName?) -> Bool {
        if isDecided { return false }
        if !results.isEmpty { results[index] = result }
        switch (result, rule) {
        case (.success(let part), .firstSuccess):
            first = (index, part)
            isDecided = true
        case (.failure(let error), .failFast):
            add(error, of: index, name)
            isDecided = true
        case (.failure(let error), .firstSuccess): add(error, of: index, name)
        default: break
        }
        return true
    }

    private mutating func add(_ error: any Error, of index: Int, _ name: PartName?) {
        failureCount += 1
        if failures.count >= BatchError.maximumFailures { return }
        let (label, request) = name ?? ("part", nil)
        failures.append(BatchError.Failure(index: index, label: label, request: request, error: error))
    }

    /// Throws what makes the whole fail.
    func check() throws {
        switch rule {
        case .collectAll: return
        case .failFast: if let failure = failures.first { throw whole(failure) }
        case .firstSuccess:
            if first != nil || failureCount < count { return }
            if let failure = failures.first, failures.allSatisfy({ $0.error.isCancellation }) { throw whole(failure) }
            throw BatchError(.noneSucceeded, failures, failureCount: failureCount)
        }
    }

    /// The error of the whole: a part that was cancelled by itself cancels the whole.
    private func whole(_ failure: BatchError.Failure) -> any Error {
        let error = BatchError(.partFailed, [failure], failureCount: failureCount)
        if !failure.error.isCancellation { return error }
        return ErrandError(
            .cancelled, "part \(failure.index) of the batch (\(failure.label)) was cancelled", underlying: error)
    }

    /// Every result; throws if a part never ran, and then the whole was cancelled.
    func all() throws -> [Result<Part, any Error>] {
        try results.map { result in
            guard let result else { throw CancellationError() }
            return result
        }
    }

    func winner() throws -> (index: Int, response: Part) {
        guard let first else { throw CancellationError() }
        return first
    }
}
