public import Errand

extension Agent {
    /// Returns the events that a server sends. The request's options determine whether the stream reconnects.
    ///
    /// ```swift
    /// for try await event in agent.events(GetNews()) { print(event.name, event.data) }
    /// ```
    public func events(_ request: some EventRequest, options: CallOptions = CallOptions()) -> EventStream {
        events(request, request.eventOptions, options: options)
    }

    /// Returns the events that a server sends, with options for this call. By default, the stream doesn't reconnect.
    /// Accepts any request whose output is an ``Errand/HTTPBody``.
    ///
    /// ```swift
    /// for try await event in agent.events(Call(.get, "feed"), .reconnecting) { print(event.data) }
    /// ```
    public func events<R: Request>(
        _ request: R, _ eventOptions: EventOptions = EventOptions(), options: CallOptions = CallOptions()
    ) -> EventStream where R.Output == HTTPBody {
        EventStream(eventOptions) { StreamSession(request, on: self, options, unit: "events", isLive: true) }
    }
}

extension Agent {
    /// Returns the events that a server sends, decoded as values. See ``EventTypes``.
    ///
    /// ```swift
    /// for try await user in agent.events(GetNews(), as: EventTypes<User>.any) { print(user.name) }
    /// ```
    public func events<Value: Sendable>(
        _ request: some EventRequest, as types: EventTypes<Value>, options: CallOptions = CallOptions()
    ) -> TypedEvents<Value> {
        TypedEvents(events(request, options: options), types)
    }

    /// Returns the events that a server sends, decoded as values, with options for this call. Accepts any request whose
    /// output is an ``Errand/HTTPBody``.
    ///
    /// ```swift
    /// let users = agent.events(Call(.get, "feed"), .reconnecting, as: EventTypes<User>.any.ending(at: "[DONE]"))
    /// ```
    public func events<R: Request, Value: Sendable>(
        _ request: R, _ eventOptions: EventOptions = EventOptions(), as types: EventTypes<Value>,
        options: CallOptions = CallOptions()
    ) -> TypedEvents<Value> where R.Output == HTTPBody {
        TypedEvents(events(request, eventOptions, options: options), types)
    }
}
