// What a site sets. These are the elections and tasks of the examples: put yours here, or overlay your own file.
{
  _config+:: {
    elections: ['settlement'],
    tasks: [{ task: 'payouts', election: 'settlement', within: '26h' }],
  },
}
