public import ErrandHTTP

/// A request that says itself whose its response is, beside the credentials with which it is sent; for a protocol of a
/// plugin's whose requests name their user.
///
/// ```swift
/// public protocol TenantRequest: OwnedRequest { var tenant: String { get } }
///
/// extension TenantRequest {
///     public var owners: Set<UserMark> { [UserMark(tenant, source: "tenant")] }
/// }
/// ```
///
/// Requests of different owners share nothing, wherever the filter stands that shares.
public protocol OwnedRequest: Request {
    /// The users to whom the response belongs.
    var owners: Set<UserMark> { get }
}
