public import Errand

/// Requests sent one after the other as one: with one output, one cancellation and one end, and errors that name steps.
///
/// ```swift
/// let order = try await agent.run(Chain("checkout") { steps in
///     let cart = try await steps.send(GetCart()).value
///     let price = try await steps.send(GetPrice(cart)).value
///     return try await steps.send(PlaceOrder(cart, price)).value
/// })
/// ```
///
/// The body uses plain `await`. Each request that it sends with `steps` is a step: an activity of its own, a child of
/// the chain's. A chain is a value: it may be sent any number of times, also at the same time, and each run is an
/// ``Errand/Activity`` of its own of the kind `.chain`. The tags of the call apply to every step.
///
/// There are two more ways to write one: links, each of which makes a request from the response before it
/// (``then(_:)``), and a list of ``ChainStep`` whose callbacks add and remove steps.
public struct Chain<Success: Sendable>: Sendable {
    /// The name for logs and errors, unless the call has one.
    public let label: String
    let body: @Sendable (ScopedAgent, ChainRecord) async throws -> Success
    var notifier: ChainNotifier?

    init(_ label: String, recorded body: @escaping @Sendable (ScopedAgent, ChainRecord) async throws -> Success) {
        (self.label, self.body) = (label, body)
    }

    /// Makes a chain of the requests that the body sends with `steps`. The body runs off the caller's actor. The chain
    /// throws the errors of the body: that of a step as ``ChainError``, which names the step, any other as it is.
    public init(_ label: String, body: @escaping @Sendable (_ steps: ScopedAgent) async throws -> Success) {
        self.init(label, recorded: { steps, _ in try await body(steps) })
    }
}

extension Chain {
    /// Makes a chain of linked requests that begins with this one.
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

    /// The same chain with one more request, made from the output so far. The closure runs off the caller's actor; an
    /// error that it throws ends the chain.
    public func then<R: Request>(_ next: @escaping @Sendable (Success) throws -> R) -> Chain<Response<R.Output>> {
        Chain<Response<R.Output>>(
            label,
            recorded: { [body] steps, record in
                try await steps.send(next(try await body(steps, record)))
            })
    }
}

/// A chain is run like every composite: `agent.run(chain)`, `agent.start(running: chain, delegate: screen) { result in … }`.
///
/// Throws ``ChainError`` if a step fails, an error of the body as it is, and ``Errand/ErrandError`` with `cancelled`.
extension Chain: Composite {
    /// A chain.
    public var activityKind: ActivityKind { .chain }

    /// Its ``label``.
    public var activityLabel: String? { label }

    /// Runs the body; each request that it sends is a step.
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

    /// The same chain, which notifies a delegate, held weakly, of each step.
    public func notifying(_ delegate: any ChainDelegate) -> Chain {
        var copy = self
        copy.notifier = ChainNotifier(delegate)
        return copy
    }

    /// Notifies a delegate, held weakly, of the end.
    public func completion(notifying delegate: any ChainDelegate) -> Completion<Success> {
        .main(
            success: { [weak delegate] in delegate?.chainDidSucceed($0, output: $1) },
            failure: { [weak delegate] in delegate?.chainDidFail($0, error: $1) },
            cancellation: { [weak delegate] in delegate?.chainDidCancel($0) })
    }
}
