public import ErrandHTTP

extension Exchange {
    /// The users to whom the request belongs. Caches and other filters that share responses keep requests with
    /// different marks apart.
    ///
    /// Contains the marks declared with ``assign(to:carriedBy:)`` and by an ``OwnedRequest``, and a mark for each
    /// sensitive header field that no declared mark represents.
    public var userMarks: Set<UserMark> {
        let ownership = Ownership(request: request, headers: http.headers, declared: users)
        if users == nil, !ownership.carriers.headers.haveSecrets { return ownership.adding(owners: []) }
        // Several filters ask for the marks of one request.
        if let known = activity.ledger.knownMarks, known.carriers == ownership.carriers {
            return ownership.adding(owners: known.marks)
        }
        let new = KnownMarks(ownership.carriers)
        activity.ledger.remember(new)
        return ownership.adding(owners: new.marks)
    }

    struct Ownership {
        let request: any Request
        let carriers: MarkCarriers

        init(request: any Request, headers: HTTPHeaders, declared: UserMarks?) {
            (self.request, carriers) = (request, MarkCarriers(headers: headers, declared: declared))
        }

        var marks: Set<UserMark> { adding(owners: carriers.marks) }

        /// Read each time, because a request can compute its owners.
        fileprivate func adding(owners marks: Set<UserMark>) -> Set<UserMark> {
            // Checking the type is cheaper than a failing cast of the value.
            guard type(of: request) is any OwnedRequest.Type, let request = request as? any OwnedRequest else {
                return marks
            }
            return marks.union(request.owners)
        }
    }

    /// The parts of an exchange that determine its marks, apart from the request's owners.
    struct MarkCarriers: Equatable {
        let headers: HTTPHeaders
        let declared: UserMarks?

        var marks: Set<UserMark> {
            let implied = UserMarks.implied(by: headers, besides: declared)
            return declared.map { implied.union($0.marks) } ?? implied
        }
    }

    /// The marks computed last in a call. A class, because most calls have none, and an empty reference is cheap.
    final class KnownMarks: Sendable {
        let carriers: MarkCarriers
        let marks: Set<UserMark>

        init(_ carriers: MarkCarriers) { (self.carriers, marks) = (carriers, carriers.marks) }
    }

    /// Declares to which user the request belongs. For filters that identify the user in any part of the request.
    ///
    /// Like sensitive fields, the mark is removed if a redirect leads to another origin, or if a filter moves the
    /// request to an origin the agent doesn't trust.
    ///
    /// ```swift
    /// var exchange = exchange
    /// exchange.http.headers["X-Account"] = session.id
    /// exchange.assign(to: UserMark(session.id, source: "account"))
    /// ```
    ///
    /// Sensitive header fields don't need a mark, unless their value changes for the same user, like a signature that
    /// contains the time. Pass such a field in `fields`.
    ///
    /// - Parameters:
    ///   - user: the mark of the user.
    ///   - fields: the header fields that the mark represents. Empty by default.
    public mutating func assign(to user: UserMark, carriedBy fields: [HTTPHeaders.Field] = []) {
        // An earlier mark stays with the old origin.
        settle()
        // A filter that runs in two stages declares the same user again.
        if users?.include(user, carriedBy: fields) == true { return }
        var marks = users ?? UserMarks()
        marks.insert(user, carriedBy: fields)
        users = marks
    }

    /// Removes a mark. For filters that replace their own credential with another.
    public mutating func unassign(from user: UserMark) { users?.marks.remove(user) }

    /// Returns the exchange with a record of the users whose requests are sent for it. For filters that store
    /// responses.
    ///
    /// The stored response belongs to the users in the record. They can differ from the users for whom the filter
    /// looked it up.
    ///
    /// ```swift
    /// struct Keeping: Filter {
    ///     func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
    ///         let (recorded, record) = exchange.recordingUsers()
    ///         let response = try await next(recorded)
    ///         record.commit()
    ///         let isTheirs = record.marks ?? exchange.userMarks == exchange.userMarks
    ///         if isTheirs { exchange.whenAccepted { log(response.headers) } }
    ///         return response
    ///     }
    /// }
    /// ```
    public func recordingUsers() -> (Exchange, UserRecord) {
        let record = UserRecord(within: record)
        return (with { $0.record = record }, record)
    }

    /// Whether a filter further out records whose requests are sent. If you repeat a request and use only one response,
    /// record each repetition separately.
    public var isRecordingUsers: Bool { record != nil }

    /// Adds the exchange's marks to the records of other filters, as if it were sent. For filters that respond with
    /// data of these users.
    public func reportUsers() {
        if let record = recordOfFilter { return record.add(userMarks) }
        // Usually no call records users, so the marks are computed only if one does.
        shared?.add(Ownership(request: request, headers: http.headers, declared: users))
    }
}

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
