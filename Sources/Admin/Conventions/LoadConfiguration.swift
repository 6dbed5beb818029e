import Config

/// Reads the configuration, and prints a warning for each variable that is ignored.
func loadConfiguration() throws(ConfigError) -> Configuration {
    let configuration = try Configuration.load()
    for variable in configuration.unknownVariables { tell("bookplate-admin: warning: \(variable)") }
    return configuration
}
