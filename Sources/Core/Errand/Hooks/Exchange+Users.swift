public import ErrandHTTP
import ErrandSupport

extension Exchange {
    /// The marks that identify the request's users. They include the marks from ``assign(to:carriedBy:queryItems:)``
    /// and an ``OwnedRequest``, and a mark for each sensitive header field that no declared mark represents.
    ///
    /// Filters that share responses, such as caches, keep requests with different marks apart.
    public var userMarks: Set<UserMark> {
        Ownership.marks(of: request, http.headers, declared: users, settings.lastMarks)
    }

    private var ownership: Ownership {
        Ownership(request: request, headers: http.headers, declared: users, lastMarks: settings.lastMarks)
    }

    /// The parts of an exchange that determine its marks.
    struct Ownership {
        let request: any Request
        let headers: HTTPHeaders
        let declared: UserMarks?
        let lastMarks: LastMarks

        var marks: Set<UserMark> { Self.marks(of: request, headers, declared: declared, lastMarks) }

        static func marks(
            of request: any Request, _ headers: HTTPHeaders, declared: UserMarks?, _ lastMarks: LastMarks
        ) -> Set<UserMark> {
            let marks = declared == nil && !headers.haveSecrets ? [] : lastMarks.marks(headers, declared)
            // The owners aren't cached, because a request can compute them.
            let type = type(of: request)
            if lastMarks.ownerless.excludes(type, unless: { type is any OwnedRequest.Type }) { return marks }
            return marks.union((request as? any OwnedRequest)?.owners ?? [])
        }
    }

    /// Declares the request's user. Call it in a filter that identifies the user in any part of the request.
    ///
    /// Like a sensitive field, the mark is removed if a redirect leads to another origin, or if a filter moves the
    /// request to an origin that the agent doesn't trust.
    ///
    /// ```swift
    /// var exchange = exchange
    /// exchange.http.headers["X-Account"] = session.id
    /// exchange.assign(to: UserMark(session.id, source: "account"))
    /// ```
    ///
    /// You don't need to assign a mark for every secret:
    ///
    /// - A sensitive header field needs a mark only if its value changes for the same user, like a signature that
    ///   contains the time. Pass such a field in `fields`.
    /// - A secret in the query always needs a mark. Pass its items in `queryItems`, so they're removed together with
    ///   the mark.
    ///
    /// - Parameters:
    ///   - user: The user's mark.
    ///   - fields: The header fields that the mark represents. Defaults to empty.
    ///   - queryItems: The secret items as they appear in the URL, such as `api_key=k`. Defaults to empty.
    public mutating func assign(
        to user: UserMark, carriedBy fields: [HTTPHeaders.Field] = [], queryItems: [String] = []
    ) {
        dropSecretsIfMoved()
        // Avoid a copy if a filter that runs in two stages declares the same user again.
        if users?.include(user, carriedBy: fields, queryItems: queryItems) == true { return }
        var marks = users ?? UserMarks()
        marks.insert(user, carriedBy: fields, queryItems: queryItems)
        users = marks
    }

    /// Removes a user's mark. Call it in a filter that replaces its own credential.
    public mutating func unassign(from user: UserMark) { users?.marks.remove(user) }

    /// Returns a copy of the exchange to pass to `next`, and a record of the users for whom later filters send
    /// requests. Use it in a filter that stores responses.
    ///
    /// Store the response for the recorded users. A later filter can change the user, so the recorded users can differ
    /// from the users for whom your filter looked up a stored response.
    ///
    /// ```swift
    /// struct Keeping: Filter {
    ///     func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
    ///         let (recorded, record) = exchange.recordingUsers()
    ///         let response = try await next(recorded)
    ///         record.commit()
    ///         let isTheirs = (record.marks ?? exchange.userMarks) == exchange.userMarks
    ///         if isTheirs { exchange.whenAccepted { log(response.headers) } }
    ///         return response
    ///     }
    /// }
    /// ```
    public func recordingUsers() -> (Exchange, UserRecord) {
        let record = UserRecord(within: record)
        return (with { $0.record = record }, record)
    }

    /// Whether an outer filter records the users whose requests are sent. See ``recordingUsers()``. If you repeat a
    /// request and use only one response, record each repetition separately.
    public var isRecordingUsers: Bool { record != nil }

    /// Adds the exchange's marks to the records of outer filters, as if the request were sent. Call it in a filter that
    /// responds with stored data.
    public func reportUsers() {
        if let record = recordOfFilter { return record.add(userMarks) }
        // The marks are computed only if a call records users, which is rare.
        shared?.add(ownership)
    }
}

/// A request that declares the users of its response, in addition to its credentials. Refine it in a plugin whose
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
/// Requests with different owners never share a response, wherever the sharing filter runs.
public protocol OwnedRequest: Request {
    /// The marks of the response's users.
    var owners: Set<UserMark> { get }
}
