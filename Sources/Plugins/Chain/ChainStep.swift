public import Errand
import ErrandEssentials
import ErrandStates
import Synchronization

/// A step in a chain that is written as a list. After the step, its callback can change the remaining steps.
///
/// ```swift
/// let chain = Chain("sign up", steps: [
///     ChainStep(Register(name: "Ada")) { account, steps in
///         if account.value.isNew { steps.append(ChainStep(SendWelcome(account.value.id))) }
///     },
///     ChainStep(after: Account.self) { account in GetProfile(account.id) },
/// ])
/// agent.start(running: chain, delegate: screen)
/// ```
public struct ChainStep: Sendable {
    /// A closure that receives a step's response on the main actor, and can change the remaining steps. If the closure
    /// throws, the chain ends with the closure's error.
    public typealias Callback<Output: Sendable> =
        @MainActor @Sendable (_ response: Response<Output>, _ steps: ChainEditor) throws -> Void

    /// The step's name in errors and logs. Pass it to ``ChainEditor/remove(_:)`` to remove the step.
    public let label: String
    let run: @Sendable (_ done: [ChainStepResult], ChainRecord, ChainEditor) async throws -> ChainStepResult

    /// Creates a step from a request.
    ///
    /// - Parameters:
    ///   - label: The step's name. Defaults to the request's label or type.
    ///   - callback: Runs on the main actor when the request has succeeded, before the next step. Defaults to `nil`.
    public init<R: Request>(_ request: R, label: String? = nil, then callback: Callback<R.Output>? = nil) {
        let label = label ?? request.label ?? "\(R.self)"
        self.label = label
        run = { done, record, editor in
            try await Self.send(request, at: done.count, label: label, record: record, editor: editor, then: callback)
        }
    }

    /// Creates a step whose request depends on the value of the previous step.
    ///
    /// If the previous value is missing or has another type, the step throws ``ChainInputError``. The `make` closure
    /// runs off the caller's actor. If the closure throws, the chain ends with the closure's error.
    public init<Input: Sendable, R: Request>(
        after type: Input.Type, label: String? = nil, make: @escaping @Sendable (Input) throws -> R,
        then callback: Callback<R.Output>? = nil
    ) {
        let label = label ?? "\(R.self)"
        self.label = label
        run = { done, record, editor in
            guard let input = done.last?.value as? Input else {
                throw ChainInputError(label: label, expected: type, got: done.last.map { Swift.type(of: $0.value) })
            }
            return try await Self.send(
                try make(input), at: done.count, label: label, record: record, editor: editor, then: callback)
        }
    }

    // This function is inlined, so each step has a single async frame.
    @inline(__always) private static func send<R: Request>(
        _ request: R, at index: Int, label: String, record: ChainRecord, editor: ChainEditor,
        then callback: Callback<R.Output>?
    ) async throws -> ChainStepResult {
        record.note(index, label)
        let response: Response<R.Output>
        do { response = try await record.agent.send(request, options: record.options(index, label)) } catch {
            record.fail((index, label, request), error)
            throw error
        }
        let result = ChainStepResult(index: index, label: label, value: response.value, http: response.http)
        if let notifier = record.notifier { await notifier.notify(editor.activity, result) }
        if let callback {
            editor.open()
            defer { editor.close() }
            try await callback(response, editor)
        }
        return result
    }
}

/// The error of a step that depends on the previous step's value, if this value is missing or has another type. See
/// ``ChainStep/init(after:label:make:then:)``.
public struct ChainInputError: DescribedError, Sendable {
    /// The label of the step that can't begin.
    public let label: String
    /// The type that the step needs.
    public let expected: Any.Type
    /// The type of the previous value, or `nil` if this is the first step.
    public let got: (Any.Type)?

    /// A sentence that names the step and both types.
    public var description: String {
        "\(label) needs \(expected) from the previous step, "
            + (got.map { "got \($0)" } ?? "but it is the first step")
    }

    /// The `NSError` code, always 1.
    public var errorCode: Int { 1 }
}

/// Changes the remaining steps of a chain that is written as a list. Each step's callback receives an editor.
///
/// After the callback has returned, the editor ignores changes, and its methods return `false` or 0.
public final class ChainEditor: Sendable {
    private struct State {
        var steps: ArraySlice<ChainStep>
        var isOpen = false
    }

    /// The running chain's activity.
    public let activity: Activity
    private let state: Mutex<State>

    init(_ activity: Activity, _ steps: [ChainStep]) {
        self.activity = activity
        state = Mutex(State(steps: steps[...]))
    }

    /// The labels of the remaining steps, in order.
    public var pending: [String] { state.withLock { $0.steps.map(\.label) } }

    /// Adds a step after the remaining steps. Returns `false` outside a callback.
    @discardableResult
    public func append(_ step: ChainStep) -> Bool {
        state.withLock { state in
            if state.isOpen { state.steps.append(step) }
            return state.isOpen
        }
    }

    /// Inserts steps before the remaining steps. Returns `false` outside a callback.
    @discardableResult
    public func insert(_ steps: ChainStep...) -> Bool {
        state.withLock { state in
            if state.isOpen { state.steps = steps + state.steps }
            return state.isOpen
        }
    }

    /// Removes the remaining steps with this label. Returns the number of removed steps.
    @discardableResult
    public func remove(_ label: String) -> Int { remove { $0.label == label } }

    /// Removes all remaining steps, so the chain succeeds with the results so far. Returns the number of removed steps.
    @discardableResult
    public func removeAll() -> Int { remove { _ in true } }

    /// Cancels the chain, so further steps don't begin.
    public func cancel() { activity.cancel() }

    private func remove(_ matches: (ChainStep) -> Bool) -> Int {
        state.withLock { state in
            guard state.isOpen else { return 0 }
            let before = state.steps.count
            state.steps.removeAll(where: matches)
            return before - state.steps.count
        }
    }

    func next() -> (step: ChainStep?, count: Int) {
        state.withLock { state in
            let count = state.steps.count
            return (state.steps.popFirst(), count)
        }
    }

    func open() { state.withLock { $0.isOpen = true } }

    func close() { state.withLock { $0.isOpen = false } }
}

extension Chain where Success == [ChainStepResult] {
    /// Creates a chain from a list of steps. The callback of a step may change the remaining steps. An empty chain
    /// succeeds at once.
    public init(_ label: String, steps list: [ChainStep]) {
        self.init(
            label,
            recorded: { steps, record in
                let editor = ChainEditor(steps.activity, list)
                var results: [ChainStepResult] = []
                record.progress.update(reporting: false) { $0.begin(0) }
                results.reserveCapacity(list.count)
                var (step, left) = editor.next()
                while let current = step {
                    results.append(try await current.run(results, record, editor))
                    (step, left) = editor.next()
                    let (done, all) = (results.count, results.count + left)
                    record.progress.update { $0.count(done, of: all) }
                    try Task.checkCancellation()
                }
                return results
            })
    }
}
