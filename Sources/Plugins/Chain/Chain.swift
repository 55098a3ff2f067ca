public import Errand
import ErrandStates

/// Dependent requests that run one after another, with one output and one cancellation. Errors name the step that
/// failed.
///
/// ```swift
/// let order = try await agent.run(Chain("checkout") { steps in
///     let cart = try await steps.send(GetCart()).value
///     let price = try await steps.send(GetPrice(cart)).value
///     return try await steps.send(PlaceOrder(cart, price)).value
/// })
/// ```
///
/// Each request that the closure sends with `steps` is a step, with its own child activity. You can send a chain any
/// number of times, even concurrently. Each run is an ``Errand/Activity`` of kind `.chain`. The call's tags apply to
/// every step.
///
/// You can also write a chain as links that each create a request from the previous response (``then(_:)``), or as a
/// list of ``ChainStep`` values whose callbacks can add and remove steps.
public struct Chain<Success: Sendable>: Sendable {
    /// The chain's name in logs and errors. The call's own label takes precedence.
    public let label: String
    let body: @Sendable (ScopedAgent, ChainRecord) async throws -> Success
    var notifier: ChainNotifier?

    init(_ label: String, recorded body: @escaping @Sendable (ScopedAgent, ChainRecord) async throws -> Success) {
        (self.label, self.body) = (label, body)
    }

    /// Creates a chain from a closure that sends its requests with `steps`. The closure runs off the caller's actor.
    ///
    /// If a step fails, the chain throws ``ChainError``. Other errors of the closure are thrown unchanged.
    public init(_ label: String, body: @escaping @Sendable (_ steps: ScopedAgent) async throws -> Success) {
        self.init(label, recorded: { steps, _ in try await body(steps) })
    }
}

extension Chain {
    /// Creates a chain of linked requests that starts with the given request.
    ///
    /// ```swift
    /// let receipt = Chain("checkout", GetCart())
    ///     .then { cart in PlaceOrder(cart.value) }
    ///     .then { order in GetReceipt(order.value.id) }
    /// let response = try await agent.run(receipt)         // Response<Receipt>
    /// ```
    public init<R: Request>(_ label: String, _ first: R) where Success == Response<R.Output> {
        self.init(label) { steps in try await steps.send(first) }
    }

    /// Returns the chain with another request, created from the output so far. The closure runs off the caller's actor.
    /// If it throws, the chain ends with that error.
    public func then<R: Request>(_ next: @escaping @Sendable (Success) throws -> R) -> Chain<Response<R.Output>> {
        Chain<Response<R.Output>>(
            label,
            recorded: { [body] steps, record in
                try await steps.send(next(try await body(steps, record)))
            })
    }
}

/// Run a chain like any composite: `agent.run(chain)`, `agent.start(running: chain, delegate: screen) { result in … }`.
///
/// Throws ``ChainError`` if a step fails, other errors of the chain's closure unchanged, and ``Errand/ErrandError``
/// with `cancelled`.
extension Chain: Composite {
    /// Returns `.chain`.
    public var activityKind: ActivityKind { .chain }

    /// The activity's name in logs: the chain's ``label``.
    public var activityLabel: String? { label }

    /// Runs the chain's closure. Agents call it when you run the chain.
    public func run(on agent: ScopedAgent) async throws -> Success {
        let record = ChainRecord(agent, notifier)
        do {
            let success = try await body(agent.observed(by: record), record)
            await record.progress.allReported()
            return success
        } catch {
            await record.progress.allReported()
            throw record.named(error)
        }
    }

    /// Returns a copy of the chain that notifies a delegate of each step. It holds the delegate weakly.
    public func notifying(_ delegate: any ChainDelegate) -> Chain {
        var copy = self
        copy.notifier = ChainNotifier(delegate)
        return copy
    }

    /// Returns a completion that notifies a delegate of the end. It holds the delegate weakly.
    public func completion(notifying delegate: any ChainDelegate) -> Completion<Success> {
        .main(
            success: { [weak delegate] in delegate?.chainDidSucceed($0, output: $1) },
            failure: { [weak delegate] in delegate?.chainDidFail($0, error: $1) },
            cancellation: { [weak delegate] in delegate?.chainDidCancel($0) })
    }
}
