/// A request that requires filters to keep its promise, and provides them.
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
/// The required filters run after the agent's of the same stage and before the request's own. An agent may have the
/// same filter installed, with options of its own: Core then leaves out the required one, if that has the trait
/// ``FilterTraits/unique``. A type that conforms to two such protocols declares which filters it requires; the compiler
/// asks for that.
public protocol FilterProvidingRequest: Request {
    /// Run after the agent's filters of the same stage.
    var requiredFilters: [any Filter] { get }
}
