package import Testing

extension Trait where Self == TimeLimitTrait {
    /// Fails each test of the suite after ten minutes, so a test that hangs is named.
    ///
    /// 24 tests share two cores, and a slow machine takes three times as long as a fast one: a test that takes seconds
    /// alone can take minutes.
    package static var endsInTime: Self { .timeLimit(.minutes(10)) }
}
