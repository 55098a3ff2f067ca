public import ErrandHTTP

extension Exchange {
    /// The users to whom the request belongs. Caches, and other filters that share responses, keep requests with
    /// different marks apart.
    ///
    /// The set contains marks declared by filters with ``belongs(to:carriedBy:)``, marks declared by the request as an
    /// ``OwnedRequest``, and a mark for each sensitive header field that no declared mark represents.
    public var userMarks: Set<UserMark> { Ownership(request: request, headers: http.headers, declared: users).marks }

    /// The sources of the marks.
    struct Ownership {
        let request: any Request
        let headers: HTTPHeaders
        let declared: UserMarks?

        var marks: Set<UserMark> {
            var marks = UserMarks.implied(by: headers, besides: declared)
            if let declared { marks.formUnion(declared.marks) }
            if type(of: request) is any OwnedRequest.Type {
                marks.formUnion((request as? any OwnedRequest)?.owners ?? [])
            }
            return marks
        }
    }

    /// Declares to which user the request belongs. For filters that identify the user in any part of the request.
    ///
    /// The mark is removed by a redirect to another origin, and by a filter that moves the request to an origin the
    /// agent doesn't trust, just like sensitive fields.
    ///
    /// ```swift
    /// var exchange = exchange
    /// exchange.http.headers["X-Account"] = session.id
    /// exchange.belongs(to: UserMark(session.id, source: "account"))
    /// ```
    ///
    /// A sensitive header field needs no mark. The exception is a field whose value changes for the same user, such as
    /// a signature that contains the time: pass it in `fields`, so the mark represents it.
    ///
    /// - Parameters:
    ///   - user: the mark of the user.
    ///   - fields: the header fields that the mark represents. Empty by default.
    public mutating func belongs(to user: UserMark, carriedBy fields: [HTTPHeaders.Field] = []) {
        // A mark declared before the request moved to another origin stays with the old origin.
        settle()
        var marks = users ?? UserMarks()
        marks.insert(user, carriedBy: fields)
        users = marks
    }

    /// Removes a mark. For filters that replace their own credential with another.
    public mutating func belongsNoLonger(to user: UserMark) { users?.marks.remove(user) }

    /// Returns the exchange along with a record of the users whose requests are sent for it. For filters that store the
    /// response.
    ///
    /// A stored response belongs to the users in the record. They can differ from the users for whom the filter looked
    /// it up.
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

    /// Whether a filter further out records whose requests are sent. A filter that repeats a request but uses only one
    /// of the responses should then record each repetition separately.
    public var isRecordingUsers: Bool { record != nil }

    /// Reports the marks of the exchange to the filters that record them, as if it were sent. For filters that respond
    /// with data that belongs to these users.
    public func reportUsers() {
        if let record = recordOfFilter { return record.add(userMarks) }
        // Usually no call records, so the marks are computed only if one does.
        shared?.add(Ownership(request: request, headers: http.headers, declared: users))
    }
}
