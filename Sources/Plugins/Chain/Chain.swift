public import Errand

/// Requests one after the other as one: with one output, one cancellation and one end, and errors that name steps.
///
/// ```swift
/// let order = try await agent.send(Chain("checkout") { steps in
///     let cart = try await steps.send(GetCart()).value
///     let price = try await steps.send(GetPrice(cart)).value
///     return try await steps.send(PlaceOrder(cart, price)).value
/// })
/// ```
///
/// The body is plain `await`. What it sends with `steps` is a step: an activity of its own with the chain's as its parent.
/// A value: it may be sent any number of times, also at the same time, and each run is an ``Errand/Activity`` of its
/// own of the kind `.chain`. The tags of the call travel on to every step.
///
/// Two more ways to write one: links, each of which makes a request of the response before it (``then(_:)``), and a list
/// of ``ChainStep`` whose callbacks add and remove steps.
public struct Chain<Success: Sendable>: Sendable {
    /// The name for logs and errors, unless the call has one.
    public let label: String
    let body: @Sendable (ChainSteps, ChainRecord) async throws -> Success
    var notifier: ChainNotifier?

    init(_ label: String, recorded body: @escaping @Sendable (ChainSteps, ChainRecord) async throws -> Success) {
        (self.label, self.body) = (label, body)
    }

    /// A chain of what the body sends with `steps`. The body runs off the caller's actor. What it throws, the chain
    /// throws: an error of a step as ``ChainError``, which names the step, and one of its own as it is.
    public init(_ label: String, body: @escaping @Sendable (_ steps: ChainSteps) async throws -> Success) {
        self.init(label, recorded: { steps, _ in try await body(steps) })
    }
}

extension Chain {
    /// A chain of linked requests, the first of which is this.
    ///
    /// ```swift
    /// let receipt = Chain("checkout", GetCart())
    ///     .then { cart in PlaceOrder(cart.value) }
    ///     .then { order in GetReceipt(order.value.id) }
    /// let response = try await agent.send(receipt)         // Response<Receipt>
    /// ```
    public init<R: Request>(_ label: String, _ first: R) where Success == Response<R.Output> {
        self.init(label) { steps in try await steps.send(first) }
    }

    /// The same chain with one more request, made of the output so far. The closure runs off the caller's actor; what it
    /// throws ends the chain.
    public func then<R: Request>(_ next: @escaping @Sendable (Success) throws -> R) -> Chain<Response<R.Output>> {
        Chain<Response<R.Output>>(
            label,
            recorded: { [body] steps, record in
                try await steps.send(next(try await body(steps, record)))
            })
    }
}
