public import Errand
import ErrandStates

/// A series of requests that run one after another, where a request can depend on earlier responses. The chain has one
/// output and one cancellation. Its errors name the step that failed.
///
/// ```swift
/// let order = try await agent.run(Chain("checkout") { steps in
///     let cart = try await steps.send(GetCart()).value
///     let price = try await steps.send(GetPrice(cart)).value
///     return try await steps.send(PlaceOrder(cart, price)).value
/// })
/// ```
///
/// Each request that the closure sends with `steps` is a step of the chain, with its own child activity. You can run a
/// chain any number of times, even concurrently. Each run is an ``Errand/Activity`` of kind `.chain`. The call's tags
/// apply to every step.
///
/// There are two other ways to write a chain:
///
/// - As links. Each link creates a request from the previous response. See ``then(_:)``.
/// - As a list of ``ChainStep`` values. Their callbacks can add and remove later steps.
public struct Chain<Success: Sendable>: Sendable {
    /// The chain's name in logs and errors. A label in the call's options takes precedence over it.
    public let label: String
    let body: @Sendable (ScopedAgent, ChainRecord) async throws -> Success
    var notifier: ChainNotifier?

    init(_ label: String, recorded body: @escaping @Sendable (ScopedAgent, ChainRecord) async throws -> Success) {
        (self.label, self.body) = (label, body)
    }

    /// Creates a chain from a closure. Each request that the closure sends with `steps` is a step. The closure runs off
    /// the caller's actor.
    ///
    /// If a step fails, the chain throws ``ChainError``. If the closure throws another error, the chain throws it
    /// unchanged.
    public init(_ label: String, body: @escaping @Sendable (_ steps: ScopedAgent) async throws -> Success) {
        self.init(label, recorded: { steps, _ in try await body(steps) })
    }
}

extension Chain {
    /// Creates a chain that starts with the given request. Add further requests with ``then(_:)``.
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

    /// Returns a chain that sends another request after this chain. The closure creates the request from this chain's
    /// output. The closure runs off the caller's actor. If the closure throws, the chain ends with the closure's error.
    public func then<R: Request>(_ next: @escaping @Sendable (Success) throws -> R) -> Chain<Response<R.Output>> {
        Chain<Response<R.Output>>(
            label,
            recorded: { [body] steps, record in
                try await steps.send(next(try await body(steps, record)))
            })
    }
}

/// You run a chain like any ``Errand/Composite``: with `agent.run(chain)`, or with
/// `agent.start(running: chain, delegate: screen) { result in … }`.
///
/// The run throws ``ChainError`` if a step fails, and ``Errand/ErrandError`` with the code `cancelled` if the chain is
/// cancelled. It throws other errors of the chain's closure unchanged.
extension Chain: Composite {
    /// Returns `.chain`.
    public var activityKind: ActivityKind { .chain }

    /// The activity's name in logs: the chain's ``label``.
    public var activityLabel: String? { label }

    /// Runs the chain's closure. The agent calls this method when you run the chain.
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

    /// Returns a copy of the chain that tells a delegate about each step. The chain holds the delegate weakly.
    public func notifying(_ delegate: any ChainDelegate) -> Chain {
        var copy = self
        copy.notifier = ChainNotifier(delegate)
        return copy
    }

    /// Returns a completion that tells a delegate how the chain ended. The completion holds the delegate weakly.
    public func completion(notifying delegate: any ChainDelegate) -> Completion<Success> {
        .main(
            success: { [weak delegate] in delegate?.chainDidSucceed($0, output: $1) },
            failure: { [weak delegate] in delegate?.chainDidFail($0, error: $1) },
            cancellation: { [weak delegate] in delegate?.chainDidCancel($0) })
    }
}
