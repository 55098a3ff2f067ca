public import ErrandHTTP

/// A request that declares to whom its response belongs, in addition to its credentials. For plugin protocols whose
/// requests name their user.
///
/// ```swift
/// public protocol TenantRequest: OwnedRequest { var tenant: String { get } }
///
/// extension TenantRequest {
///     public var owners: Set<UserMark> { [UserMark(tenant, source: "tenant")] }
/// }
/// ```
///
/// Requests of different owners never share a response, wherever the sharing filter is placed.
public protocol OwnedRequest: Request {
    /// The users to whom the response belongs.
    var owners: Set<UserMark> { get }
}
