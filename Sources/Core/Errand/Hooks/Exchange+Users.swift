public import ErrandHTTP

extension Exchange {
    /// Whose the request is: what filters have declared with ``belongs(to:carriedBy:)``, what the request itself
    /// declares as an ``OwnedRequest``, and each sensitive header field that no declared mark stands for. Caches and
    /// whatever else shares responses keep requests with different marks apart.
    public var userMarks: Set<UserMark> { Ownership(request: request, headers: http.headers, declared: users).marks }

    /// What the marks are made of.
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

    /// Declares whose the request is; for a filter that adds an identification of the user, in any part of the request.
    /// A redirect to another origin removes the mark, as it does sensitive fields, and so does a filter that moves the
    /// request to an origin that the agent does not trust.
    ///
    /// ```swift
    /// var exchange = exchange
    /// exchange.http.headers["X-Account"] = session.id
    /// exchange.belongs(to: UserMark(session.id, source: "account"))
    /// ```
    ///
    /// A sensitive header field needs none. Where its value changes though the user does not, as a signature's does
    /// with its time, the mark stands for the field.
    ///
    /// - Parameters:
    ///   - user: the mark of the user.
    ///   - fields: the header fields for which the mark stands; none by default.
    public mutating func belongs(to user: UserMark, carriedBy fields: [HTTPHeaders.Field] = []) {
        // A mark from before the request was moved to another origin stays there.
        settle()
        var marks = users ?? UserMarks()
        marks.insert(user, carriedBy: fields)
        users = marks
    }

    /// Removes a mark; for a filter that puts another credential in the place of its own.
    public mutating func belongsNoLonger(to user: UserMark) { users?.marks.remove(user) }

    /// The same exchange, and a record of whose requests are sent for it; for a filter that stores the response. What
    /// it stores belongs to the users in the record, which may not be those for whom it looked.
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

    /// Whether a filter further out records whose requests are sent, so that one that repeats a request, and uses one
    /// response only, records each by itself.
    public var isRecordingUsers: Bool { record != nil }

    /// Reports the marks of the exchange to the filters that record them, as if it were sent; for a filter that
    /// responds with what belongs to these users.
    public func reportUsers() {
        if let record = recordOfFilter { return record.add(userMarks) }
        // Mostly none of the calls records: the marks are made for those that do.
        shared?.add(Ownership(request: request, headers: http.headers, declared: users))
    }
}
