/// A request that brings the filters without which it cannot keep its promise.
///
/// A plugin's request protocol refines it, so that the plugin's filter cannot be forgotten:
///
/// ```swift
/// public protocol SignedRequest: FilterProvidingRequest { var key: SecretKey { get } }
///
/// extension SignedRequest {
///     public var requiredFilters: [any Filter] { [Signature(key)] }
/// }
/// ```
///
/// The required filters run after the agent's of the same stage and before the request's own. An agent may have the same
/// filter installed, with options of its own: the inner one then has to recognise, by a tag on the exchange, that its work
/// is done. A type that conforms to two such protocols says itself which filters it brings; the compiler asks for that.
public protocol FilterProvidingRequest: Request {
    /// Run after the agent's filters of the same stage.
    var requiredFilters: [any Filter] { get }
}
