package import Testing

extension Trait where Self == TimeLimitTrait {
    /// Fails each test of the suite after twenty minutes, so a test that hangs is named.
    ///
    /// 24 tests share two cores, a slow machine takes three times as long as a fast one, and a sanitizer ten times: a
    /// test that takes seconds alone can take minutes.
    package static var endsInTime: Self { .timeLimit(.minutes(20)) }
}
