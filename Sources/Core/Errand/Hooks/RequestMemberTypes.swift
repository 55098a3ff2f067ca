// The underscore keeps these declarations out of the API and the documentation.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

#if DEBUG
public import ErrandHTTP

/// Makes the compiler warn if a request type declares a member with a requirement's name but another type.
///
/// For such a member, Swift silently uses the default. But it infers an associated type from any member of the right
/// name, and warns if a default implementation is deprecated. So this protocol repeats each requirement of ``Request``
/// with a free type, and has a check for each. The check's default is deprecated unless the type is right.
///
/// Exists only in debug builds, because each request type would grow by more than a kilobyte. Leaves out requirements
/// whose defaults depend on the output, because they multiply the compiler's work.
public protocol _RequestMemberTypes: Sendable {
    associatedtype _Method
    associatedtype _Path
    associatedtype _Query
    associatedtype _Parameters
    associatedtype _Headers
    associatedtype _Body
    associatedtype _Authorization
    associatedtype _Timeout
    associatedtype _Deadline
    associatedtype _Priority
    associatedtype _Redirects
    associatedtype _AcceptableStatuses
    associatedtype _Label
    associatedtype _Tags
    associatedtype _Filters
    associatedtype _OutcomeCheck
    associatedtype _Checks
    associatedtype _Accessories
    associatedtype _Decoder

    var method: _Method { get }
    var path: _Path { get }
    var query: _Query { get }
    var parameters: _Parameters { get }
    var headers: _Headers { get }
    var body: _Body { get }
    var authorization: _Authorization { get }
    var timeout: _Timeout { get }
    var deadline: _Deadline { get }
    var priority: _Priority { get }
    var redirects: _Redirects { get }
    var acceptableStatuses: _AcceptableStatuses { get }
    var label: _Label { get }
    var tags: _Tags { get }
    var filters: _Filters { get }
    var outcomeCheck: _OutcomeCheck { get }
    var checks: _Checks { get }
    var accessories: _Accessories { get }
    var decoder: _Decoder { get }

    static func _check(method: _Method.Type)
    static func _check(path: _Path.Type)
    static func _check(query: _Query.Type)
    static func _check(parameters: _Parameters.Type)
    static func _check(headers: _Headers.Type)
    static func _check(body: _Body.Type)
    static func _check(authorization: _Authorization.Type)
    static func _check(timeout: _Timeout.Type)
    static func _check(deadline: _Deadline.Type)
    static func _check(priority: _Priority.Type)
    static func _check(redirects: _Redirects.Type)
    static func _check(acceptableStatuses: _AcceptableStatuses.Type)
    static func _check(label: _Label.Type)
    static func _check(tags: _Tags.Type)
    static func _check(filters: _Filters.Type)
    static func _check(outcomeCheck: _OutcomeCheck.Type)
    static func _check(checks: _Checks.Type)
    static func _check(accessories: _Accessories.Type)
    static func _check(decoder: _Decoder.Type)
}

extension _RequestMemberTypes where _Method == HTTPMethod {
    public static func _check(method: _Method.Type) {}
}
extension _RequestMemberTypes where _Path == String {
    public static func _check(path: _Path.Type) {}
}
extension _RequestMemberTypes where _Query == Parameters {
    public static func _check(query: _Query.Type) {}
}
extension _RequestMemberTypes where _Parameters == Parameters? {
    public static func _check(parameters: _Parameters.Type) {}
}
extension _RequestMemberTypes where _Headers == HTTPHeaders {
    public static func _check(headers: _Headers.Type) {}
}
extension _RequestMemberTypes where _Body == RequestBody {
    public static func _check(body: _Body.Type) {}
}
extension _RequestMemberTypes where _Authorization == Authorization? {
    public static func _check(authorization: _Authorization.Type) {}
}
extension _RequestMemberTypes where _Timeout == Duration? {
    public static func _check(timeout: _Timeout.Type) {}
}
extension _RequestMemberTypes where _Deadline == Duration? {
    public static func _check(deadline: _Deadline.Type) {}
}
extension _RequestMemberTypes where _Priority == RequestPriority? {
    public static func _check(priority: _Priority.Type) {}
}
extension _RequestMemberTypes where _Redirects == RedirectPolicy? {
    public static func _check(redirects: _Redirects.Type) {}
}
extension _RequestMemberTypes where _AcceptableStatuses == StatusCodes {
    public static func _check(acceptableStatuses: _AcceptableStatuses.Type) {}
}
extension _RequestMemberTypes where _Label == String? {
    public static func _check(label: _Label.Type) {}
}
extension _RequestMemberTypes where _Tags == Tags {
    public static func _check(tags: _Tags.Type) {}
}
extension _RequestMemberTypes where _Filters == [any Filter] {
    public static func _check(filters: _Filters.Type) {}
}
extension _RequestMemberTypes where _OutcomeCheck == ResponseCheck? {
    public static func _check(outcomeCheck: _OutcomeCheck.Type) {}
}
extension _RequestMemberTypes where _Checks == [ResponseCheck] {
    public static func _check(checks: _Checks.Type) {}
}
extension _RequestMemberTypes where _Accessories == [any Accessory] {
    public static func _check(accessories: _Accessories.Type) {}
}
extension _RequestMemberTypes where _Decoder == (any BodyDecoder)? {
    public static func _check(decoder: _Decoder.Type) {}
}

extension _RequestMemberTypes {
    @available(*, deprecated, message: "the request ignores 'method', because its type isn't 'HTTPMethod'")
    public static func _check(method: _Method.Type) {}
    @available(*, deprecated, message: "the request ignores 'path', because its type isn't 'String'")
    public static func _check(path: _Path.Type) {}
    @available(*, deprecated, message: "the request ignores 'query', because its type isn't 'Parameters'")
    public static func _check(query: _Query.Type) {}
    @available(*, deprecated, message: "the request ignores 'parameters', because its type isn't 'Parameters?'")
    public static func _check(parameters: _Parameters.Type) {}
    @available(*, deprecated, message: "the request ignores 'headers', because its type isn't 'HTTPHeaders'")
    public static func _check(headers: _Headers.Type) {}
    @available(*, deprecated, message: "the request ignores 'body', because its type isn't 'RequestBody'")
    public static func _check(body: _Body.Type) {}
    @available(*, deprecated, message: "the request ignores 'authorization', because its type isn't 'Authorization?'")
    public static func _check(authorization: _Authorization.Type) {}
    @available(*, deprecated, message: "the request ignores 'timeout', because its type isn't 'Duration?'")
    public static func _check(timeout: _Timeout.Type) {}
    @available(*, deprecated, message: "the request ignores 'deadline', because its type isn't 'Duration?'")
    public static func _check(deadline: _Deadline.Type) {}
    @available(*, deprecated, message: "the request ignores 'priority', because its type isn't 'RequestPriority?'")
    public static func _check(priority: _Priority.Type) {}
    @available(*, deprecated, message: "the request ignores 'redirects', because its type isn't 'RedirectPolicy?'")
    public static func _check(redirects: _Redirects.Type) {}
    @available(*, deprecated, message: "the request ignores 'acceptableStatuses', because its type isn't 'StatusCodes'")
    public static func _check(acceptableStatuses: _AcceptableStatuses.Type) {}
    @available(*, deprecated, message: "the request ignores 'label', because its type isn't 'String?'")
    public static func _check(label: _Label.Type) {}
    @available(*, deprecated, message: "the request ignores 'tags', because its type isn't 'Tags'")
    public static func _check(tags: _Tags.Type) {}
    @available(*, deprecated, message: "the request ignores 'filters', because its type isn't '[any Filter]'")
    public static func _check(filters: _Filters.Type) {}
    @available(*, deprecated, message: "the request ignores 'outcomeCheck', because its type isn't 'ResponseCheck?'")
    public static func _check(outcomeCheck: _OutcomeCheck.Type) {}
    @available(*, deprecated, message: "the request ignores 'checks', because its type isn't '[ResponseCheck]'")
    public static func _check(checks: _Checks.Type) {}
    @available(*, deprecated, message: "the request ignores 'accessories', because its type isn't '[any Accessory]'")
    public static func _check(accessories: _Accessories.Type) {}
    @available(*, deprecated, message: "the request ignores 'decoder', because its type isn't '(any BodyDecoder)?'")
    public static func _check(decoder: _Decoder.Type) {}
}
#else
/// Has no requirements in release builds. See its debug version.
public protocol _RequestMemberTypes: Sendable {}
#endif
